import type { MessagePort } from 'node:worker_threads'
import type { DegradedPart } from '../../core/degraded.ts'
import type { CounterLayout } from '../../policy/counters.ts'
import type { LimitMemory } from '../../policy/limits/limit-memory.ts'
import type { RoutingMemory } from '../../routing/memory.ts'
import type { ConfigurationSnapshot, KeyDelta, SnapshotPrices } from '../../store/configuration/snapshot.ts'
import type { GatewaySettings, TrafficEvent } from '../gateway.ts'
import type { JournalPlace } from '../journal/journal.ts'

/** What a data-plane thread is started with (`workerData`). */
export interface ThreadStart {
  settings: GatewaySettings
  /** null: the listener speaks plain HTTP, for the life of the thread. */
  certificate: ServerCertificate | null
  journal: JournalPlace
  healthMemory: SharedArrayBuffer
  routingMemory: RoutingMemory
  counterMemory: SharedArrayBuffer
  counterLayout: CounterLayout
  limitMemory: LimitMemory
  /** The control plane's sign of life. */
  liveness: SharedArrayBuffer
  /** This thread's column of the counters. */
  column: number
}

/** Clear text, since only plain data crosses threads: it goes from here to the listener and nowhere else. */
export interface ServerCertificate {
  /** PEM. */
  cert: string
  key: string
  /** 48 random bytes, the same in all threads: a client may resume with another thread than it began with. */
  ticketKeys: Uint8Array
}

export type ToThread =
  /** `patternScript`: of the engine for patterns, where content rules have any; null from the sources. */
  | { type: 'configuration'; snapshot: ConfigurationSnapshot; patternScript: string | null }
  | { type: 'keys'; delta: KeyDelta }
  | { type: 'prices'; prices: SnapshotPrices }
  /** For what begins from now on; `certificate` null leaves the one in use. */
  | { type: 'settings'; version: number; settings: GatewaySettings; certificate: ServerCertificate | null }
  /** Every degraded part of the whole gateway, for `/readyz`. */
  | { type: 'degraded'; parts: readonly DegradedPart[] }
  /** The way to the index of objects; the one before leads nowhere any more. It is transferred. */
  | { type: 'objects'; port: MessagePort }
  /** Ends what is in progress for a key that was revoked; comes after the delta that revoked it. */
  | { type: 'close-streams'; keyId: string }
  | { type: 'listen' }
  /** To a dying thread that was the last to listen: its successor does. */
  | { type: 'leave' }
  /** Comes before `drain`; whoever gets only that stops listening as well. */
  | { type: 'stop-listening' }
  | { type: 'drain'; limitMs: number }

export type FromThread =
  | { type: 'started' }
  | { type: 'listening'; port: number }
  | { type: 'failed'; reason: string }
  /** The versions that this thread serves from now on. */
  | { type: 'has'; configuration: number; keys: number; prices: number }
  | { type: 'has-settings'; version: number }
  | { type: 'refused'; reason: string }
  | { type: 'traffic'; event: TrafficEvent }
  /** After a fault that nobody caught: it takes no requests any more, ends those that it has, and then ends itself. */
  | { type: 'crashing'; reason: string }
  | { type: 'stopped-listening' }
  | { type: 'drained' }
