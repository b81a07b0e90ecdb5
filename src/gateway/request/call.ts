import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import { leastMedia, promptTokens } from '../../core/cost/prompt-tokens.ts'
import type { Edit } from '../../core/json/json-scan.ts'
import type { BatchAsk } from '../../core/objects/batch-input.ts'
import type { Signal } from '../../core/record.ts'
import type { Secret } from '../../core/secrets/secret.ts'
import type { Inspection, Lane, Match } from '../../lanes/contract.ts'
import { type EffectivePolicy, effectivePolicy } from '../../policy/admit.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import { estimateCost } from '../../policy/prices/estimate-cost.ts'
import type { Transport } from '../../providers/contract.ts'
import type { AffinityPlace } from '../../routing/affinity.ts'
import type { HealthTarget } from '../../routing/health.ts'
import type { LatencyFigure } from '../../routing/latency-figures.ts'
import type { Pin } from '../../routing/pinned-plan.ts'
import type { Figures } from '../../routing/strategy.ts'
import type { SnapshotKey, SnapshotProvider } from '../../store/configuration/snapshot.ts'
import type { AnswerStage } from '../answer/stage.ts'
import type { CallContent } from '../content/call-content.ts'
import type { Gateway } from '../gateway.ts'
import type { KeptBefore } from '../responses/kept-responses.ts'
import type { Abort, Arrival, RequestBody } from './arrival.ts'
import type { Trace } from './trace.ts'

/** Who sends the request and which endpoint it is for. */
export interface RequestCaller {
  key: SnapshotKey
  /** The policy that applied when the key was looked up. */
  policy: EffectivePolicy
  /** The version of all keys when `key` was looked up. If it is unchanged at admission, so is the key. */
  keysVersion: number
  presented: string | null
  lane: Lane
  match: Match
  /** The query of the URL, or of the URL that a token in it stands for. */
  query: string
  pin: Pin | null
  clientSecret: { secret: Secret; model: string | null } | null
}

/** Sends the turns of a conversation to the same target. */
export interface Affinity {
  /** That target has answered. Returns the stage that reads the answer for signatures; null: none is needed. */
  answered(place: AffinityPlace): AnswerStage | null
}

/** Reasoning in a body that no provider of its format takes (`ReplayedCarriers`). */
export interface ReplayedReasoning {
  /** Empty: the model takes all of it. */
  editsFor(model: string): readonly Edit[]
  /** Whether they take away what asks the model to think. */
  stopsThinking(model: string): boolean
}

/** What a stream without an output limit holds of its budgets. */
export interface OpenHold {
  held: number
  input: number
  /** null: the model costs nothing. */
  price: ModelPrice | null
  /** What tools of the provider may use for it. */
  beside?: { usd: bigint; tokens: number } | undefined
  /** What earlier parts of the answer cost; absent: there are none. */
  before?: { usd: bigint; tokens: number }
}

/**
 * An admitted request: who calls, in which lane, for what. The client's side of everything that follows; the provider's side is
 * a `Leg`, one for each attempt.
 */
export class Call implements Figures {
  readonly arrival: Arrival
  readonly gateway: Gateway
  readonly trace: Trace
  readonly abort: Abort
  readonly lane: Lane
  readonly match: Match
  readonly key: SnapshotKey
  /** The key whose failures are counted separately; null in a gateway with a single key, whose failures count for all. */
  readonly caller: string | null
  /** The gateway key as presented, so that it is never sent up in a header. Never printed; null where a token took its place. */
  readonly presented: string | null
  readonly body: RequestBody
  /** The provider's credential from a client token, used in place of the stored one; null: the stored one is used. */
  readonly clientSecret: RequestCaller['clientSecret']
  /** The one provider and credential that can serve the call; null: the routes decide. */
  pin: Pin | null
  /** Sends to the provider; a WebSocket has its own transport. */
  transport: Transport
  /**
   * Whether the answer may name objects that the provider stores. A model's answer is stored only if the client asks for it, so most
   * answers are not searched for objects.
   */
  readonly createsObjects: boolean
  /** The request as parsed for providers of other formats (`CallTranslation`); null: it was not parsed. */
  translation: object | null = null
  /** Sealed reasoning of this gateway that the client sent back; null: none, or the body has not been searched. */
  replayed: ReplayedReasoning | null = null
  /** Changed only by `learn`. */
  inspection: Inspection
  /** The stored responses that the body refers to; null: none. */
  kept: KeptBefore | null = null
  /** The most output tokens that a policy allows, if the request itself allows more; null: the request's own limit applies. */
  outputCap: number | null = null
  /** The note on the record about the budget that caps the answer. */
  roomNote: Signal | null = null
  /** The content rules that apply; null: none do, and neither prompt nor answer is read for them. */
  contentPolicies: readonly ContentPolicy[] | null = null
  /** What content rules have done with the call so far. */
  content: CallContent | null = null
  /** For a batch: what the lines of its files ask for; null: not known. */
  batchInputs: readonly BatchAsk[] | null = []
  /** For a stream without an output limit under a budget: what it holds so far. */
  openHold: OpenHold | null = null
  /** null: the target is not remembered, as for nearly all calls. */
  affinity: Affinity | null = null
  /** Estimated from the length of the body and the kinds of media in it. */
  inputTokens: number

  constructor(arrival: Arrival, caller: RequestCaller, inspection: Inspection) {
    this.arrival = arrival
    this.gateway = arrival.gateway
    this.trace = arrival.trace
    this.abort = arrival.abort
    this.body = arrival.body
    this.lane = caller.lane
    this.match = caller.match
    this.key = caller.key
    this.caller = arrival.gateway.model.hasSingleKey ? null : caller.key.id
    this.presented = caller.presented
    this.clientSecret = caller.clientSecret
    this.pin = caller.pin
    this.transport = arrival.gateway.transport
    this.inspection = inspection
    this.createsObjects = createsObjects(caller.match, inspection)
    const { bytes } = this.body
    this.inputTokens = bytes.length < leastMedia ? Math.ceil(bytes.length / bytesPerToken) : promptTokens(bytes)
  }

  /** Adds what later steps learn: the next page of a list, a model that a frame names, a form that turned out to stream. */
  learn(more: Partial<Inspection>): void {
    this.inspection = { ...this.inspection, ...more }
    this.trace.noteInspection(this.inspection)
  }

  /** The policy as it is now: policies and the key may change while a WebSocket is open. */
  get policy(): EffectivePolicy {
    const { model } = this.gateway
    return effectivePolicy(model.configuration.policies, model.findKey(this.key.hash) ?? this.key)
  }

  latencyOf(target: HealthTarget): LatencyFigure | null {
    return this.gateway.health.latency.find(target, this.inspection.streamed)
  }

  costOf({ id }: SnapshotProvider, model: string): bigint | null {
    const known = this.gateway.model.configuration.providers.get(id)
    if (known === undefined) return null
    const price = this.gateway.model.priceOf(known, model)
    return estimateCost(price, this.inputTokens, this.inspection.outputLimit)
  }

  get id(): string {
    return this.arrival.id
  }

  header(name: string): string | null {
    return this.arrival.header(name)
  }

  /** Whether the request may name stored objects at all; nearly every call of a model names none. */
  get mayNameObjects(): boolean {
    const { mayRefer, query } = this.inspection
    return this.match.object !== null || mayRefer || query !== '' || this.body.upload !== null
  }
}

function createsObjects({ endpoint }: Match, { stores }: Inspection): boolean {
  const { object } = endpoint
  if (object === null || object.effect === 'delete') return false
  return stores || !(object.type === 'chat_completion' || object.type === 'thread') || object.effect !== 'create'
}
