import type { DegradedPart } from '../core/degraded.ts'
import type { CounterLayout } from '../policy/counters.ts'
import type { ConfigurationSnapshot, KeyDelta } from '../store/snapshot.ts'
import type { GatewaySettings, TrafficEvent } from './gateway.ts'
import type { JournalPlace } from './journal.ts'

/** What a data-plane thread is started with (`workerData`). */
export interface ThreadStart {
  settings: GatewaySettings
  journal: JournalPlace
  healthMemory: SharedArrayBuffer
  counterMemory: SharedArrayBuffer
  counterLayout: CounterLayout
  /** This thread's column of the counters. */
  column: number
}

export type ToThread =
  | { type: 'configuration'; snapshot: ConfigurationSnapshot }
  | { type: 'keys'; delta: KeyDelta }
  /** Every degraded part of the whole gateway, for `/readyz`. */
  | { type: 'degraded'; parts: readonly DegradedPart[] }
  /** Ends what is under way for a key that was revoked; comes after the delta that revoked it. */
  | { type: 'close-streams'; keyId: string }
  | { type: 'listen' }
  | { type: 'drain'; limitMs: number }

export type FromThread =
  | { type: 'started' }
  | { type: 'listening'; port: number }
  | { type: 'failed'; reason: string }
  /** The versions that this thread serves from now on. */
  | { type: 'has'; configuration: number; keys: number }
  | { type: 'refused'; reason: string }
  | { type: 'traffic'; event: TrafficEvent }
  | { type: 'drained' }
