import type { StatusOutput } from './status-output.ts'

export type LiveState = 'receiving' | 'degraded' | 'disconnected'

export interface Live {
  state: LiveState
  /** What is degraded, or why nothing is heard. */
  reason: string | null
  /** The gateway's status as heard last. */
  status: StatusOutput | null
  /** Goes up with every change of configuration; null: the gateway does not tell. */
  configuration: number | null
}

type Listener = () => void

let live: Live = { state: 'disconnected', reason: 'Connecting', status: null, configuration: null }
const listeners = new Set<Listener>()

export function readLive(): Live {
  return live
}

export function subscribeLive(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function setLive(next: Live): void {
  live = next
  for (const listener of listeners) listener()
}
