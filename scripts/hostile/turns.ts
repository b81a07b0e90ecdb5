import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const turnsVariable = 'SPGW_HOSTILE_TURNS'
/** Shorter turns are not written down. */
export const shortestMs = 10

/** One turn of an event loop, as `turn-probe.ts` saw it. */
export interface Turn {
  thread: string
  /** When it ended, in milliseconds since 1970. */
  at: number
  ms: number
  /** CPU time of its thread: what the turn costs on a machine that is busy with other things too. */
  cpuMs: number
}

const threads = {
  main: 'control plane',
  'spgw-gateway': 'data plane',
  'spgw-store': 'store',
} as const
type Thread = keyof typeof threads

export const threadNames: readonly string[] = Object.values(threads)

/** The worst turn of each thread, by its CPU time. A thread that does one job for one caller (backup, manifests) delays nobody. */
export type Worst = Partial<Record<string, Turn>>

export function findWorst(directory: string, since: number): Worst {
  const worst: Worst = {}
  for (const name of readdirSync(directory)) {
    for (const line of readFileSync(join(directory, name), 'utf8').split('\n')) {
      if (line === '') continue
      const turn = JSON.parse(line) as Turn
      const thread = threads[(turn.thread || 'main') as Thread]
      if (thread === undefined || turn.at < since) continue
      if (turn.cpuMs > (worst[thread]?.cpuMs ?? 0)) worst[thread] = turn
    }
  }
  return worst
}
