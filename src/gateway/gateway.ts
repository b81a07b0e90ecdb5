import type { AddressSet } from '../addresses/address-set.ts'
import type { AddressForm } from '../addresses/recorded-address.ts'
import type { DegradedPart } from '../core/degraded.ts'
import type { Fault } from '../core/errors.ts'
import type { TimeLimits } from '../core/lane.ts'
import type { Liveness, LongTurn } from '../core/turn-watch.ts'
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
  captures: CaptureBudget
  budget: MemoryBudget
  memory: BodyMemory
  objects: ObjectIndex
  answers: CacheIndex
  deadlines: Deadlines
  descriptors: Descriptors
  chunks: GcPacer
  transport: Transport
  health: Health
  /** Where conversations are, for all threads. */
  affinities: BigUint64Array
  /** How long the calls of routes take that ask a second target. */
  hedging: BigInt64Array
  counters: Counters
  limits: LimitCounters
  /** Copies for shadow targets that are under way on this thread. */
  shadows: Set<{ abort(reason: Fault): void }>
  /** Which calls a provider's kind can take without translation. */
  kinds: Kinds
  socketGaps: SocketGaps
  /** For patterns of content rules; null: no policy has had one. */
  patterns: Promise<PatternEngine> | null
  refusals: RefusalSampler
  /** Of the whole gateway, as the control plane told it. */
  degraded: readonly DegradedPart[]
  trustedProxies: AddressSet
  /** Tells the control plane what only traffic can see. */
  report(event: TrafficEvent): void
  /** The control plane's sign of life. */
  liveness: Liveness
  random(): number
  /** The gateway is stopping: what is in progress ends, nothing new is wanted. */
  draining: boolean
  /** This thread ends after a fault that nobody caught: whatever it is still asked is rejected. */
  crashing: boolean
}

export interface GatewaySettings {
  /** The gateway is to be taken out of service: `/readyz` says so, and all else is served. */
  leaving: boolean
  host: string
  port: number
  reusePort: boolean
  bodyLimit: number
  /** Of a body that goes up as a stream. */
  uploadLimit: number
  /** Of a body that is translated. */
  translateLimit: number
  /** Of all bodies that are held at once, those of all threads together. */
  heldLimit: number
  timeouts: TimeLimits
  keepAliveMs: number
  /** The gateway as clients see it, behind a proxy; null: as they call it. */
  url: string | null
  trustedProxies: readonly string[]
  /** On the way to providers; they stay as they were when the thread began. */
  proxies: Proxies
  corsOrigins: readonly string[]
  /** How the clients' addresses are recorded. */
  clientAddress: AddressForm
  /** Whether calls may be begun that then pass the gateway by. */
  webrtc: boolean
  /** Whether requests are exported as traces, so that what a client says of its trace is told to providers as the gateway's own. */
  traces: boolean
}

/** A provider's state as traffic found it; the control plane checks and decides. */
export type TrafficEvent =
  /** A call was rejected with it, which may have been about that call; null: it may not do what was asked. */
  | { type: 'credential-suspect'; providerId: string; credentialId: string | null; reason: string | null }
  /** Repeated failures keep calls away: those of one key, or those of all. */
  | { type: 'calls-failing'; providerId: string; trip: 'caller' | 'all' }
  /** The first answer of a provider that was never checked. */
  | { type: 'provider-answered'; providerId: string }
  /** A model that is watched from now on. */
  | { type: 'target-watched'; slot: number; model: string }
  | { type: 'quota-exhausted'; providerId: string; credentialId: string | null; reason: string }
  /** Of this thread's journal; null: it is well again. `lost`: entries since the thread began. */
  | { type: 'degraded'; reason: string | null; lost: number }
  /** A fault of the gateway's own, which ended one exchange. */
  | { type: 'fault'; requestId: string; reason: string }
  | { type: 'long-turn'; turn: LongTurn }
  /** Of a budget that nodes share, this one needs more. */
  | { type: 'allowance-wanted'; want: AllowanceWant }
  /** The same of a limit a minute, or of requests at once. */
  | { type: 'limit-wanted'; want: LimitWant }
