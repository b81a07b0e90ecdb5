import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'spgw-test-'

/**
 * The temporary directory of one run of the tests. It goes when the run ends, and where that was killed, when the next one
 * starts: tests remove what they make, and one that is killed cannot.
 */
export function makeRunDirectory(parent = tmpdir(), isAlive = isProcess): string {
  for (const name of readdirSync(parent)) {
    const id = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
    if (Number.isInteger(id) && !isAlive(id)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const directory = join(parent, `${prefix}${process.pid}`)
  // Others than its owner must get through: some tests run servers as another user.
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function isProcess(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch (error) {
    // Somebody else's.
    return Reflect.get(Object(error), 'code') === 'EPERM'
  }
}
