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
  /** null: the listener speaks plain HTTP for the life of the thread. */
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

/** In clear text, since only plain data crosses threads. It goes to the listener and nowhere else. */
export interface ServerCertificate {
  /** PEM. */
  cert: string
  key: string
  /** 48 random bytes, the same in all threads: a client may resume a TLS session with another thread. */
  ticketKeys: Uint8Array
}

export type ToThread =
  /** `patternScript`: the engine for patterns, if content rules use patterns; null when running from sources. */
  | { type: 'configuration'; snapshot: ConfigurationSnapshot; patternScript: string | null }
  | { type: 'keys'; delta: KeyDelta }
  | { type: 'prices'; prices: SnapshotPrices }
  /** Applies to new requests; `certificate` null keeps the present one. */
  | { type: 'settings'; version: number; settings: GatewaySettings; certificate: ServerCertificate | null }
  /** Every degraded part of the whole gateway, for `/readyz`. */
  | { type: 'degraded'; parts: readonly DegradedPart[] }
  /** The port to the object index; it replaces the one before, which is no longer served. It is transferred. */
  | { type: 'objects'; port: MessagePort }
  /** Ends requests in progress for a revoked key; sent after the delta that revoked it. */
  | { type: 'close-streams'; keyId: string }
  | { type: 'listen' }
  /** To a crashing thread that was the last one listening: its successor is listening now. */
  | { type: 'leave' }
  /** Sent before `drain`. A thread that gets only this one stops listening too. */
  | { type: 'stop-listening' }
  | { type: 'drain'; limitMs: number }

export type FromThread =
  | { type: 'started' }
  | { type: 'listening'; port: number }
  | { type: 'failed'; reason: string }
  /** The versions that this thread now serves. */
  | { type: 'has'; configuration: number; keys: number; prices: number }
  | { type: 'has-settings'; version: number }
  | { type: 'refused'; reason: string }
  | { type: 'traffic'; event: TrafficEvent }
  /** After an uncaught error: the thread accepts no more requests, ends those that it has, then exits. */
  | { type: 'crashing'; reason: string }
  | { type: 'stopped-listening' }
  | { type: 'drained' }
