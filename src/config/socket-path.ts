import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { ProcessEnvironment } from './data-directory.ts'
import type { Settings } from './settings.ts'
import { SettingsRefused } from './settings-refused.ts'

/** What every Unix takes as a socket address, without its closing zero (macOS has 104 bytes, Linux 108). */
export const longestSocketPath = 103

/**
 * The path itself where it fits, else a short one of its own below `$XDG_RUNTIME_DIR`, which is absolute or not taken, as
 * the XDG base directory specification has it.
 */
export function fitSocketPath(path: string, place: string, environment: ProcessEnvironment): string {
  if (Buffer.byteLength(path) <= longestSocketPath) return path
  const runtime = environment.XDG_RUNTIME_DIR
  const short = runtime && isAbsolute(runtime) ? join(runtime, `spgw-${shortHash(path)}.sock`) : null
  if (short !== null && Buffer.byteLength(short) <= longestSocketPath) return short
  const why = short !== null ? 'is too long as well' : runtime ? 'is not an absolute path' : 'is not set'
  const message = `too long for a socket (${longestSocketPath} bytes), and XDG_RUNTIME_DIR ${why}`
  throw new SettingsRefused([
    { place, message: `${path} is ${message}; choose a shorter data directory or set admin.socket` },
  ])
}

/**
 * Leaves word in `<data dir>/admin.path` of a socket that is not `<data dir>/admin.sock`, so that commands which know
 * only the data directory find it; takes the word back where it is.
 */
export function noteSocketPath(settings: Pick<Settings, 'dataDirectory' | 'admin'>): void {
  const note = join(settings.dataDirectory, 'admin.path')
  if (settings.admin.socket === join(settings.dataDirectory, 'admin.sock')) {
    rmSync(note, { force: true })
    return
  }
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 })
  writeFileSync(note, `${settings.admin.socket}\n`, { mode: 0o600 })
}

function shortHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16)
}
