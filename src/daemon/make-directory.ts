import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory (0700) and those above it that are missing. Node's own `recursive` never returns where the file
 * system has no room for a name (`/proc/nothing`): it takes ENOENT for a missing parent, for ever.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    makeDirectory(parent)
    mkdirSync(path, { mode: 0o700 })
  }
}
