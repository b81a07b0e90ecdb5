import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './children.ts'
import type { Machine } from './machine.ts'

/**
 * Installs what `NAME/package.json` of this directory asks for below `place`, from the lock file beside it, once: too heavy,
 * or of no use, for our own installation. Returns its `node_modules`.
 */
export async function installAside(machine: Machine, name: string, place: string): Promise<string> {
  const target = join(place, name)
  const source = join(import.meta.dirname, name)
  const modules = join(target, 'node_modules')
  const mark = join(modules, 'installed.json')
  if (!(await isSame(mark, join(source, 'package-lock.json')))) {
    process.stderr.write(`Installing ${name} …\n`)
    await cp(source, target, { recursive: true })
    const command = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund']
    await run(machine, command, { place: 'all', directory: target })
    await cp(join(target, 'package-lock.json'), mark)
  }
  return modules
}

async function isSame(mark: string, lock: string): Promise<boolean> {
  const installed = await readFile(mark, 'utf8').catch(() => null)
  return installed !== null && installed === (await readFile(lock, 'utf8'))
}
