import type { AddressSet } from '../addresses/address-set.ts'
import type { AddressForm } from '../addresses/recorded-address.ts'
import type { DegradedPart } from '../core/degraded.ts'
import type { Fault } from '../core/errors.ts'
import type { TimeLimits } from '../core/lane.ts'
import type { Liveness, LongTurn } from '../core/threads/turn-watch.ts'
import type { PatternEngine } from '../policy/content/seeker.ts'
import type { Counters } from '../policy/counters.ts'
import type { AllowanceWant } from '../policy/limits/allowance.ts'
import type { LimitCounters, LimitWant } from '../policy/limits/limit-counters.ts'
import type { Transport } from '../providers/contract.ts'
import type { Proxies } from '../providers/proxy-choice.ts'
import type { Health } from '../routing/health.ts'
import type { Kinds } from '../routing/plan.ts'
import type { CacheIndex } from './cache/cache-index.ts'
import type { CaptureBudget } from './capture/kept-bytes.ts'
import type { Journal } from './journal/journal.ts'
import type { ObjectIndex } from './objects/object-index.ts'
import type { BodyMemory } from './request/body-memory.ts'
import type { MemoryBudget } from './request/memory-budget.ts'
import type { SocketGaps } from './sockets/socket-gaps.ts'
import type { Deadlines } from './thread/deadlines.ts'
import type { Descriptors } from './thread/descriptors.ts'
import type { GcPacer } from './thread/gc-pacing.ts'
import type { ReadModel } from './thread/read-model.ts'
import type { RefusalSampler } from './thread/refusal-sampling.ts'

/** What the steps of the pipeline share on one data-plane thread. */
export interface Gateway {
  settings: GatewaySettings
  thread: number
  model: ReadModel
  journal: Journal
  captureBudget: CaptureBudget
  memoryBudget: MemoryBudget
  bodyMemory: BodyMemory
  objects: ObjectIndex
  answerCache: CacheIndex
  deadlines: Deadlines
  descriptors: Descriptors
  gcPacer: GcPacer
  transport: Transport
  health: Health
  /** Which target each conversation was sent to, for all threads. */
  affinities: BigUint64Array
  /** How long calls take, for the routes that hedge. */
  hedging: BigInt64Array
  counters: Counters
  limits: LimitCounters
  /** Copies to shadow targets that are in progress on this thread. */
  shadows: Set<{ abort(reason: Fault): void }>
  /** Which calls a provider's kind can take without translation. */
  kinds: Kinds
  socketGaps: SocketGaps
  /** For patterns of content rules; null: no policy has had one. */
  patterns: Promise<PatternEngine> | null
  refusals: RefusalSampler
  /** The degraded parts of the whole gateway, as the control plane reports them. */
  degraded: readonly DegradedPart[]
  trustedProxies: AddressSet
  /** Reports to the control plane what only traffic can see. */
  report(event: TrafficEvent): void
  /** The control plane's sign of life. */
  liveness: Liveness
  random(): number
  /** The gateway is stopping: requests in progress are completed, and connections close after their answers. */
  draining: boolean
  /** This thread ends after an uncaught error: it rejects every request that still arrives. */
  crashing: boolean
}

export interface GatewaySettings {
  /** The gateway is about to be taken out of service: `/readyz` says so, everything else is served as before. */
  leaving: boolean
  host: string
  port: number
  reusePort: boolean
  bodyLimit: number
  /** Largest body that is sent up as a stream, in bytes. */
  uploadLimit: number
  /** Largest body that is translated, in bytes. */
  translateLimit: number
  /** Largest sum of all bodies held at once on all threads, in bytes. */
  heldLimit: number
  timeouts: TimeLimits
  keepAliveMs: number
  /** The gateway's URL as clients see it, behind a proxy; null: the address that they call. */
  url: string | null
  trustedProxies: readonly string[]
  /** Proxies on the way to providers. They stay as they were when the thread began. */
  proxies: Proxies
  corsOrigins: readonly string[]
  /** How the clients' addresses are recorded. */
  clientAddress: AddressForm
  /** Whether clients may begin calls whose traffic then bypasses the gateway. */
  webrtc: boolean
  /** Whether requests are exported as traces. Providers then get the gateway's trace context in place of the client's. */
  traces: boolean
}

/** A provider's state as traffic found it; the control plane checks and decides. */
export type TrafficEvent =
  /** The provider rejected a credential, perhaps because of the call. `credentialId` null: it is accepted, but lacks a permission. */
  | { type: 'credential-suspect'; providerId: string; credentialId: string | null; reason: string | null }
  /** After repeated failures calls are kept away: those of one key, or all. */
  | { type: 'calls-failing'; providerId: string; trip: 'caller' | 'all' }
  /** The first answer of a provider that was never checked. */
  | { type: 'provider-answered'; providerId: string }
  /** The health of this model is watched from now on. */
  | { type: 'target-watched'; slot: number; model: string }
  | { type: 'quota-exhausted'; providerId: string; credentialId: string | null; reason: string }
  /** Why this thread's journal cannot be written; null: it can again. `lost`: entries lost since the thread began. */
  | { type: 'degraded'; reason: string | null; lost: number }
  /** A bug in the gateway, which ended one request. */
  | { type: 'fault'; requestId: string; reason: string }
  | { type: 'long-turn'; turn: LongTurn }
  /** This node needs more of a budget that nodes share. */
  | { type: 'allowance-wanted'; want: AllowanceWant }
  /** The same for a limit a minute, or for requests at once. */
  | { type: 'limit-wanted'; want: LimitWant }
