import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Call, newAgent, send, verify } from './calls.ts'
import { cpuMicros, run, untilQuiet } from './children.ts'
import type { Bench, Target } from './target.ts'

interface Load {
  requests: number
  perSecond: number
}

export interface Cost extends Load {
  /** Of the whole process, what it put off included. */
  cpuMicrosEach: number
}

/**
 * As many requests as `connections` clients can send one after another. The answers are checked before and after by
 * ourselves; during the load every one must have status 200. Throws when one has not.
 */
export async function loadFully(bench: Bench, target: Target, call: Call, connections: number): Promise<Cost> {
  await verify(target, call)
  await drive(bench, target, call, connections, Math.min(1, bench.seconds / 2))
  await untilQuiet(target.pid)
  const before = cpuMicros(target.pid)
  const load = await drive(bench, target, call, connections, bench.seconds)
  await untilQuiet(target.pid)
  const cpuMicrosEach = (cpuMicros(target.pid) - before) / load.requests
  await verify(target, call)
  return { ...load, cpuMicrosEach }
}

/** The load alone. */
export function drive(bench: Bench, target: Target, call: Call, connections: number, seconds: number): Promise<Load> {
  return bench.machine.has.wrk
    ? driveWrk(bench, target, call, connections, seconds)
    : driveOwn(target, call, connections, seconds)
}

async function driveWrk(bench: Bench, target: Target, call: Call, connections: number, seconds: number): Promise<Load> {
  const place = join(bench.directory, `load-${target.name}`)
  const body = `${place}.json`
  const headers = Object.entries({ 'content-type': 'application/json', ...target.headers })
  const lua = [
    'wrk.method = "POST"',
    `wrk.body = io.open("${body}"):read("*a")`,
    ...headers.map(([name, value]) => `wrk.headers["${name}"] = "${value}"`),
  ]
  await writeFile(body, call.body)
  await writeFile(`${place}.lua`, lua.join('\n'))
  const length = `${Math.max(1, Math.round(seconds))}s`
  const url = `http://127.0.0.1:${target.port}${call.path}`
  const words = ['wrk', '-t1', `-c${connections}`, `-d${length}`, '--timeout', '10s', '-s', `${place}.lua`, url]
  const said = await run(bench.machine, words, { place: 'load' })
  const trouble = /(Non-2xx or 3xx responses|Socket errors): .*/.exec(said)
  if (trouble) throw new Error(`${target.name} under load: ${trouble[0]}`)
  return {
    requests: Number(/(\d+) requests in/.exec(said)?.[1]),
    perSecond: Number(/Requests\/sec:\s*([\d.]+)/.exec(said)?.[1]),
  }
}

async function driveOwn(target: Target, call: Call, connections: number, seconds: number): Promise<Load> {
  const agent = newAgent()
  const begun = performance.now()
  let requests = 0
  const client = async () => {
    for (; performance.now() - begun < seconds * 1000; requests++) await send(agent, target, call)
  }
  await Promise.all(Array.from({ length: connections }, client))
  agent.destroy()
  return { requests, perSecond: requests / ((performance.now() - begun) / 1000) }
}

/**
 * Requests at a fixed rate, whether or not the ones before are answered: a slow moment is seen by all that fall into it.
 * Returns how long each took, in milliseconds.
 */
export async function loadSteadily(target: Target, call: Call, perSecond: number, seconds: number): Promise<number[]> {
  const agent = newAgent()
  const sent: Promise<number>[] = []
  const begun = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - begun) / 1000
      const due = Math.floor(Math.min(elapsed, seconds) * perSecond)
      while (sent.length < due) sent.push(send(agent, target, call).then(({ totalMs }) => totalMs))
      if (elapsed < seconds) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  try {
    return await Promise.all(sent)
  } finally {
    agent.destroy()
  }
}
