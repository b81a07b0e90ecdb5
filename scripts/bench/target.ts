import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from './calls.ts'
import { stop } from './children.ts'
import type { Machine } from './machine.ts'
import type { Mock } from './mock.ts'
import type { TlsFront } from './nginx.ts'

/** `portkey` runs under the same Node as spgw, `portkey-image` under that of its own image. */
export type TargetName = 'spgw' | 'beside' | 'nginx' | 'portkey' | 'portkey-image' | 'litellm'

export interface Address {
  port: number
  path: string
  headers: Record<string, string>
}

/** A gateway that runs. */
export interface Target {
  name: TargetName | 'direct'
  /** Where a call goes, and what a client must send with it, the credential above all. */
  reach(call: Call): Address
  pid: number
  /** From the start of the process to the first good answer of its probe. */
  readyMs: number
  stop(): Promise<void>
}

export interface StartOptions {
  /** Data-plane threads, where the target has any. */
  threads?: number
  /** On all cores, beside the load, instead of on its own. */
  spread?: boolean
}

export type Starter = (options?: StartOptions) => Promise<Target>

export interface Bench {
  machine: Machine
  mock: Mock
  /** The load, compiled. */
  loadProgram: string
  /** The provider behind TLS; null where the means are missing. */
  tls: TlsFront | null
  /** The mock itself, as a target. */
  direct: Target
  /** The file that is measured as spgw. */
  executable: string
  starters: Partial<Record<TargetName, Starter>>
  /** Length of one load, and of what a new process gets first: V8 takes long to bring code to its full speed. */
  seconds: number
  warmUpSeconds: number
  directory: string
}

/** The mock itself, without a gateway before it. */
export function directTarget(mock: Mock): Target {
  const reach = ({ path }: Call) => ({ port: mock.port, path, headers: {} })
  return { name: 'direct', reach, pid: 0, readyMs: 0, stop: async () => {} }
}

/** Figures of one trial, by their name in `figures.ts`. */
export type Figures = Record<string, number>

/** One thing that is measured. */
export interface Part {
  name: string
  /** Which targets take part; all of them where it is not said. */
  only?: readonly TargetName[]
  /** Measured on a process of its own, started with these options, instead of the round's. */
  fresh?: StartOptions
  /** Left out of the quick form. */
  fullOnly?: boolean
  /** False: the means are missing on this machine. */
  possible?(bench: Bench): boolean
  measure(target: Target, bench: Bench): Promise<Figures>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Asks the probe until it answers with 200. Returns the milliseconds since `begun`, taken before the process was started. */
export async function untilReady(child: ChildProcess, url: string, begun: number, limitMs = 20_000): Promise<number> {
  const asked = performance.now()
  let said = ''
  child.stderr?.on('data', (bytes) => (said = (said + bytes).slice(-600)))
  while (performance.now() - asked < limitMs) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} instead of serving: ${said}`)
    const good = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => response.status === 200),
      () => false,
    )
    if (good) return performance.now() - begun
    await sleep(3)
  }
  await stop(child)
  throw new Error(`not ready within ${limitMs} ms: ${said}`)
}
