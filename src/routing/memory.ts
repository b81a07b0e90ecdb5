import { createAffinityMemory } from './affinity.ts'
import { createHedgingMemory } from './hedging.ts'

/** What all threads remember of where calls went, besides the health of targets. */
export interface RoutingMemory {
  affinities: SharedArrayBuffer
  hedging: SharedArrayBuffer
}

export function createRoutingMemory(): RoutingMemory {
  return { affinities: createAffinityMemory(), hedging: createHedgingMemory() }
}
