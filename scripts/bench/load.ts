import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Call, smallCall } from './calls.ts'
import { cpuMicros, run, untilQuiet } from './children.ts'
import { bodyHeaders, verify } from './client.ts'
import type { Bench, Target } from './target.ts'

export interface LoadOptions {
  connections: number
  seconds: number
  /** Requests a second, sent when they are due, answered or not; 0 or absent: as many as are answered. */
  perSecond?: number
}

export interface Load {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export interface Cost extends Load {
  /** Of the whole process, what it put off included. */
  cpuMicrosEach: number
}

/** What a request costs when so many clients send one after another. Throws when an answer was wrong. */
export async function loadFully(bench: Bench, target: Target, call: Call, connections: number): Promise<Cost> {
  await drive(bench, target, call, { connections, seconds: Math.min(1, bench.seconds / 2) })
  await untilQuiet(target.pid)
  const before = cpuMicros(target.pid)
  const load = await drive(bench, target, call, { connections, seconds: bench.seconds })
  await untilQuiet(target.pid)
  return { ...load, cpuMicrosEach: (cpuMicros(target.pid) - before) / load.requests }
}

/** What a process gets before it is measured. */
export async function warmUp(bench: Bench, target: Target): Promise<void> {
  await drive(bench, target, smallCall(), { connections: 32, seconds: warmUpSeconds(bench, target) })
}

/** A program in C needs next to none. */
export function warmUpSeconds(bench: Bench, target: Target): number {
  return target.name === 'nginx' ? 1 : bench.warmUpSeconds
}

/**
 * The load alone. One answer is held against what the provider says, and every other against that one, to the last byte.
 * Throws when one differs.
 */
export async function drive(bench: Bench, target: Target, call: Call, options: LoadOptions): Promise<Load> {
  const expected = await verify(target, call)
  const { connections, seconds, perSecond = 0 } = options
  const { port, path, headers } = target.reach(call)
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...bodyHeaders(call), ...headers })
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
  const requestFile = join(bench.directory, `request-${target.name}-${port}`)
  const answerFile = join(bench.directory, `answer-${target.name}-${port}`)
  await writeFile(requestFile, `${head}\r\n\r\n${call.body}`)
  // The second at which an answer was made is no part of it.
  await writeFile(
    answerFile,
    expected.replace(/(?<="created":\s*)\d+/, (second) => '\x01'.repeat(second.length)),
  )
  const numbers = [port, connections, Math.round(seconds * 1000), perSecond].map(String)
  const said = await run(bench.machine, [bench.loadProgram, ...numbers, requestFile, answerFile], { place: 'load' })
  const result = JSON.parse(said.slice(said.lastIndexOf('{"requests"'))) as Record<string, number>
  const { requests = 0, wrong = 0, ms = 0, p50 = Number.NaN, p99 = Number.NaN } = result
  if (requests === 0) throw new Error(`${target.name} answered nothing`)
  if (wrong > 0) throw new Error(`${target.name} gave ${wrong} wrong answers under load: ${said.slice(0, 300)}`)
  return { requests, perSecond: (requests / ms) * 1000, p50Ms: p50, p99Ms: p99 }
}
