import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorCode } from '../core/caught.ts'

/**
 * Makes a directory (0700) and those above it that are missing. Node's own `recursive` never returns where the file
 * system has no room for a name (`/proc/nothing`): it takes ENOENT for a missing parent, for ever.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST') return
    const parent = dirname(path)
    if (code !== 'ENOENT' || parent === path) throw error
    makeDirectory(parent)
    mkdirSync(path, { mode: 0o700 })
  }
}
