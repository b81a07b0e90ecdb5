import { createHash, randomUUID } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { errorCode } from '../core/caught.ts'

declare const __BUNDLED__: boolean | undefined
/** Of the addon, SHA-256 in hex: what stands in the data directory is compared without reading the executable's copy. */
declare const __ADDON_HASH__: string

/** Beside the bundle; `scripts/bundle.ts` puts it there. */
const addonName = 'better-sqlite3.node'

/**
 * The path of better-sqlite3's binary for its `nativeBinding` option; undefined where the library finds its own (run from source).
 * The dynamic loader reads real files only, so the executable's copy goes into the data directory, under its hash.
 * Throws the file system's error when the data directory cannot be written.
 */
export function extractNativeBinding(dataDirectory: string): string | undefined {
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__) return undefined
  const embedded = join(import.meta.dirname, addonName)
  return isSea() ? placeAddon(() => readFileSync(embedded), __ADDON_HASH__, dataDirectory) : embedded
}

/** Writes the addon where no file of this SHA-256 (hex) stands yet, and returns its path. */
export function placeAddon(read: () => Uint8Array, hash: string, dataDirectory: string): string {
  const directory = join(dataDirectory, 'native')
  const path = join(directory, `better-sqlite3-${hash.slice(0, 32)}.node`)
  if (holds(path, hash)) return path
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  // Renamed into place: a process that loads it at this moment sees the old file or the new one, whole.
  const fresh = `${path}.${randomUUID()}`
  writeFileSync(fresh, read(), { mode: 0o500, flag: 'wx' })
  chmodSync(fresh, 0o500)
  renameSync(fresh, path)
  return path
}

function holds(path: string, hash: string): boolean {
  try {
    return hashFile(path) === hash
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

/** Piece by piece: the whole of it would stay in memory until something else makes room. */
function hashFile(path: string): string {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(64 * 1024)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) hash.update(piece.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
