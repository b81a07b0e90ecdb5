import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { EnvironmentVariables } from './io.ts'

/** How long a browser may take to read the page that leads on. */
const readMs = 5000

/**
 * Opens an address in the browser of whoever sits here; where there is none, nothing happens: the address has been printed.
 * The browser is given a file that leads on to it, since everybody on a machine sees the arguments of every process.
 */
export async function openAddress(address: string, environment: EnvironmentVariables): Promise<void> {
  const opener = findOpener(process.platform, environment)
  const { protocol } = new URL(address)
  if (opener === null || (protocol !== 'http:' && protocol !== 'https:')) return
  const directory = await mkdtemp(join(tmpdir(), 'spgw-'))
  try {
    const page = join(directory, 'console.html')
    await writeFile(page, writeLeadingPage(address), { mode: 0o600 })
    const [command = '', ...leading] = opener
    const child = spawn(command, [...leading, page], { stdio: 'ignore' })
    // No such program is no fault: the address stands on the terminal.
    if ((await once(child, 'spawn').catch(() => null)) !== null) await pause(readMs)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** null: nobody sits at a screen here. */
export function findOpener(platform: NodeJS.Platform, environment: EnvironmentVariables): string[] | null {
  if (environment.SSH_CONNECTION) return null
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['explorer.exe']
  return environment.DISPLAY || environment.WAYLAND_DISPLAY ? ['xdg-open'] : null
}

export function writeLeadingPage(address: string): string {
  const { href } = new URL(address)
  const quoted = href.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${quoted}"><title>spgw</title>`
}
