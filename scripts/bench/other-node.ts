import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { installAside } from './aside.ts'
import type { Machine } from './machine.ts'

/** `24`: that line of Node from npm, installed on demand; anything else is the binary itself. */
export async function findNode(machine: Machine, named: string, place: string): Promise<string> {
  if (named !== '24') return resolve(named)
  const modules = await installAside(machine, 'node-24', place)
  const found = (await readdir(modules)).find((name) => name.startsWith('node-'))
  if (found === undefined) throw new Error('no npm package of Node 24 runs on this machine')
  return join(modules, found, 'bin/node')
}
