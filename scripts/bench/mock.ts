import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { start } from './children.ts'
import type { Machine } from './machine.ts'
import { compile } from './native.ts'

/** The mock provider (`mock.c`) as the bench sees it. */
export interface Mock {
  port: number
  /** When the provider got the call with this tag, and when its connection was closed under it; monotonic nanoseconds. */
  called(tag: string): Promise<bigint>
  closed(tag: string): Promise<bigint>
  /** How often the tag has been called. */
  calls(tag: string): number
}

export async function startMock(machine: Machine, directory: string): Promise<Mock> {
  const child = start(machine, [await compile(machine, directory, 'mock')], { place: 'load' })
  const seen = new Map<string, bigint[]>()
  const waiting = new Map<string, (at: bigint) => void>()
  const lines = createInterface({ input: child.stdout! })
  const [first] = (await once(lines, 'line')) as [string]
  lines.on('line', (line) => {
    const [event = '', tag = '', at = '0'] = line.split(' ')
    const key = `${event} ${tag}`
    seen.set(key, [...(seen.get(key) ?? []), BigInt(at)])
    waiting.get(key)?.(BigInt(at))
  })
  const eventOf = (key: string) =>
    new Promise<bigint>((resolve, reject) => {
      const known = seen.get(key)?.[0]
      if (known !== undefined) return resolve(known)
      const timer = setTimeout(() => reject(new Error(`the mock never saw: ${key}`)), 5000)
      waiting.set(key, (at) => {
        clearTimeout(timer)
        resolve(at)
      })
    })
  return {
    port: Number(first.split(' ')[1]),
    called: (tag) => eventOf(`called ${tag}`),
    closed: (tag) => eventOf(`closed ${tag}`),
    calls: (tag) => seen.get(`called ${tag}`)?.length ?? 0,
  }
}
