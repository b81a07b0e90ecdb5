import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Call, smallCall } from './calls.ts'
import { cpuMicros, run, untilQuiet } from './children.ts'
import { bodyHeaders, newAgent, send, verify } from './client.ts'
import { quantile } from './statistics.ts'
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
  const load = bench.loadProgram
    ? await driveProgram(bench, bench.loadProgram, target, call, expected, options)
    : await driveOwn(target, call, expected, options)
  if (load.requests === 0) throw new Error(`${target.name} answered nothing`)
  return load
}

async function driveProgram(
  bench: Bench,
  program: string,
  target: Target,
  call: Call,
  expected: string,
  { connections, seconds, perSecond = 0 }: LoadOptions,
): Promise<Load> {
  const { port, path, headers } = target.reach(call)
  const lines = Object.entries({ host: `127.0.0.1:${port}`, ...bodyHeaders(call), ...headers })
  const head = [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`)].join('\r\n')
  const requestFile = join(bench.directory, `request-${target.name}`)
  const answerFile = join(bench.directory, `answer-${target.name}`)
  await writeFile(requestFile, `${head}\r\n\r\n${call.body}`)
  await writeFile(answerFile, expected)
  const numbers = [port, connections, Math.round(seconds * 1000), perSecond].map(String)
  const said = await run(bench.machine, [program, ...numbers, requestFile, answerFile], { place: 'load' })
  const result = JSON.parse(said.slice(said.lastIndexOf('{"requests"'))) as Record<string, number>
  const { requests = 0, wrong = 0, ms = 0, p50 = Number.NaN, p99 = Number.NaN } = result
  if (wrong > 0) throw new Error(`${target.name} gave ${wrong} wrong answers under load: ${said.slice(0, 300)}`)
  return { requests, perSecond: (requests / ms) * 1000, p50Ms: p50, p99Ms: p99 }
}

async function driveOwn(target: Target, call: Call, expected: string, options: LoadOptions): Promise<Load> {
  const agent = newAgent()
  const taken: number[] = []
  const sendOne = async (due: number) => {
    const { text } = await send(agent, target, call)
    if (text !== expected) throw new Error(`${target.name} gave a wrong answer under load: ${text.slice(0, 300)}`)
    taken.push(performance.now() - due)
  }
  const begun = performance.now()
  try {
    await (options.perSecond ? sendSteadily(sendOne, begun, options) : sendFully(sendOne, begun, options))
  } finally {
    agent.destroy()
  }
  const perSecond = (taken.length / (performance.now() - begun)) * 1000
  return { requests: taken.length, perSecond, p50Ms: quantile(taken, 0.5), p99Ms: quantile(taken, 0.99) }
}

type SendOne = (due: number) => Promise<void>

async function sendFully(sendOne: SendOne, begun: number, { connections, seconds }: LoadOptions): Promise<void> {
  const client = async () => {
    for (let now = begun; now - begun < seconds * 1000; now = performance.now()) await sendOne(now)
  }
  await Promise.all(Array.from({ length: connections }, client))
}

async function sendSteadily(sendOne: SendOne, begun: number, { seconds, perSecond = 1 }: LoadOptions): Promise<void> {
  const sent: Promise<void>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - begun) / 1000
      const due = Math.floor(Math.min(elapsed, seconds) * perSecond)
      while (sent.length < due) sent.push(sendOne(begun + (sent.length / perSecond) * 1000))
      if (elapsed < seconds) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await Promise.all(sent)
}
