import { availableParallelism, totalmem } from 'node:os'
import type { ClusterSettings } from '../../config/settings.ts'
import { Liveness } from '../../core/threads/turn-watch.ts'
import { attachCounters, type CounterLayout, type Counters, createCounterMemory } from '../../policy/counters.ts'
import { BucketClock } from '../../policy/limits/bucket-clock.ts'
import { LimitCounters } from '../../policy/limits/limit-counters.ts'
import { createLimitMemory, type LimitMemory, type SharedCounts } from '../../policy/limits/limit-memory.ts'
import { attachHealth, createHealthMemory, type Health } from '../../routing/health.ts'
import { createRoutingMemory, type RoutingMemory } from '../../routing/memory.ts'

/** Providers that a gateway can have at once; the health table is made once, for the life of the process. */
export const slotLimit = 4096
const rowLimit = 16

/** What all threads share. The control plane's own column stands behind those of the data-plane threads. */
export interface SharedMemory {
  health: SharedArrayBuffer
  routing: RoutingMemory
  counters: SharedArrayBuffer
  layout: CounterLayout
  limits: LimitMemory
  /** The control plane's sign of life. */
  liveness: SharedArrayBuffer
}

/** What a node of a cluster counts together with the others. */
export function sharedCounts(cluster: ClusterSettings | null): SharedCounts {
  return {
    budgets: cluster?.sharesBudgets ?? false,
    windows: cluster?.valkey == null ? null : BucketClock.memory(),
  }
}

export function createSharedMemory(workers: number, shared?: SharedCounts): SharedMemory {
  const layout = { rows: rowLimit, threads: columnsOf(workers).length + 1 }
  return {
    health: createHealthMemory(slotLimit),
    routing: createRoutingMemory(),
    counters: createCounterMemory(layout),
    layout,
    limits: createLimitMemory(layout.threads, shared),
    liveness: Liveness.memory(),
  }
}

/** Three for each data-plane thread: one that is dying still holds its own when the next begins, and the next may die young. */
export function columnsOf(workers: number): number[] {
  return Array.from({ length: 3 * workers }, (_, column) => column)
}

/** As the control plane sees it. */
export interface Shared {
  health: Health
  affinities: BigUint64Array
  counters: Counters
  limits: LimitCounters
}

export function attachShared(memory: SharedMemory): Shared {
  const own = memory.layout.threads - 1
  return {
    health: attachHealth(memory.health),
    affinities: new BigUint64Array(memory.routing.affinities),
    counters: attachCounters(memory.counters, memory.layout, own),
    limits: new LimitCounters(memory.limits, own),
  }
}

/**
 * A quarter of the memory that the process may have: what is sent on is held a second time where it is changed. But always room for
 * one body of the largest size.
 */
export function chooseHeldLimit(setting: number | 'auto', bodyLimit: number): number {
  if (setting !== 'auto') return setting
  const constrained = process.constrainedMemory()
  return Math.max(bodyLimit, Math.floor(Math.min(constrained > 0 ? constrained : Infinity, totalmem()) / 4))
}

/** One core is left for the control plane; platforms without `reusePort` can listen on one thread only. */
export function countWorkers(setting: number | 'auto'): number {
  if (!canSharePort()) return 1
  return setting === 'auto' ? Math.max(1, availableParallelism() - 1) : setting
}

export function canSharePort(): boolean {
  return process.platform === 'linux' || process.platform === 'freebsd'
}
