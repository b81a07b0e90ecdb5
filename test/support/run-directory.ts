import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'spgw-test-'

/**
 * The temporary directory of one run of the tests. It goes when the run ends, and where that was killed, when the next one
 * starts: tests remove what they make, and one that is killed cannot.
 */
export function makeRunDirectory(parent = chooseParent(), isAlive = isProcess): string {
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

/**
 * In memory where there is room for it (a run has a few hundred megabytes at a time) and programs may be run from there: tests
 * make and remove tens of thousands of files, which took a tenth of the whole run's time on a disk. `TMPDIR` wins.
 */
export function chooseParent(memory = '/dev/shm', wanted = 4e9, mounts = '/proc/self/mounts'): string {
  if (process.env.TMPDIR) return tmpdir()
  try {
    const { bavail, bsize } = statfsSync(memory)
    const mount = readFileSync(mounts, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, place]) => place === memory)
    const runs = mount !== undefined && !(mount[3] ?? '').split(',').includes('noexec')
    if (runs && bavail * bsize >= wanted) return memory
  } catch {
    // Not every system has it.
  }
  return tmpdir()
}

function isProcess(id: number): boolean {
  try {
    return process.kill(id, 0)
  } catch (error) {
    // Somebody else's.
    return Reflect.get(Object(error), 'code') === 'EPERM'
  }
}
