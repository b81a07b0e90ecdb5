import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { installAside } from './aside.ts'
import type { Machine } from './machine.ts'

/** The lines of Node that are installed from npm on demand. */
export const nodeLines = ['20', '24']

/** The one in Portkey's own image (its Dockerfile: `FROM node:20-alpine`): what somebody who runs it has. */
export const peerLine = '20'

/** A line of Node, or the binary itself. */
export async function findNode(machine: Machine, named: string, place: string): Promise<string> {
  if (!nodeLines.includes(named)) return resolve(named)
  const modules = await installAside(machine, `node-${named}`, place)
  const found = (await readdir(modules)).find((name) => name.startsWith('node-'))
  if (found === undefined) throw new Error(`no npm package of Node ${named} runs on this machine`)
  return join(modules, found, 'bin/node')
}
