import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import { lastSignature, mayBeSigned, readConversation } from '../../lanes/conversation.ts'
import type { SignedReasoning } from '../../lanes/reader-contract.ts'
import {
  type AffinityPlace,
  affinityKey,
  conversationKeys,
  keepAffinity,
  recall,
  stayAt,
} from '../../routing/affinity.ts'
import type { Plan } from '../../routing/plan.ts'
import type { AnswerStage } from '../answer/stage.ts'
import type { Gateway } from '../gateway.ts'
import type { Affinity, Call } from '../request/call.ts'

/** A client may continue a conversation with signed reasoning the next day. */
const signedTtlMs = 24 * 3_600_000

/** Puts the conversation's previous target first, as long as it is healthy, and remembers which target answers. */
export function applyAffinity(call: Call, planned: Plan): Plan {
  const { gateway, key, body, match, trace, arrival } = call
  const { route } = planned
  if (planned.fault !== null || route === null) return planned
  const { signedReasoning: known } = match.endpoint
  const signed = known !== undefined && mayBeSigned(body.bytes, known) ? known : null
  const { start, signature } = readConversation(body.bytes, signed, route.sticky)
  const keys = conversationKeys(key.projectId, route, { start: start?.text ?? null, signature })
  const cached = keys.cached === null || start === null ? null : { key: keys.cached, ttlMs: start.ttlMs }
  const keyOf = (text: string) => affinityKey(key.projectId, route.id, text)
  call.affinity = new CallAffinity(gateway, cached, signed, keyOf)
  const found = recall(gateway.affinities, keys, Date.now())
  if (found === null) return planned
  const stayed = stayAt(planned, found, (target, credential) =>
    gateway.health.isUsable(target, credential, arrival.receivedAt),
  )
  trace.routingSignals.push(...stayed.signals.slice(planned.signals.length))
  return stayed
}

class CallAffinity implements Affinity {
  readonly #gateway: Gateway
  readonly #cached: { key: bigint; ttlMs: number } | null
  readonly #signed: SignedReasoning | null
  readonly #keyOf: (text: string) => bigint

  constructor(
    gateway: Gateway,
    cached: { key: bigint; ttlMs: number } | null,
    signed: SignedReasoning | null,
    keyOf: (text: string) => bigint,
  ) {
    this.#gateway = gateway
    this.#cached = cached
    this.#signed = signed
    this.#keyOf = keyOf
  }

  answered(place: AffinityPlace): AnswerStage | null {
    if (this.#cached !== null) this.#keep(this.#cached.key, place, this.#cached.ttlMs)
    if (this.#signed === null) return null
    return new SignatureStage(this.#signed.names, (signature) => this.#keep(this.#keyOf(signature), place, signedTtlMs))
  }

  #keep(key: bigint, place: AffinityPlace, ttlMs: number): void {
    const now = Date.now()
    keepAffinity(this.#gateway.affinities, key, place, now + ttlMs, now)
  }
}

/** Reads the signatures in an answer as it passes, and changes nothing. */
class SignatureStage implements AnswerStage {
  readonly faultIfUnread: Fault | null = null
  readonly #names: readonly string[]
  readonly #remember: (signature: string) => void

  constructor(names: readonly string[], remember: (signature: string) => void) {
    this.#names = names
    this.#remember = remember
  }

  event(_event: StreamEvent, pass: Buffer | null): Buffer | null {
    if (pass !== null) this.#read(pass)
    return pass
  }

  end(): null {
    return null
  }

  whole(body: Buffer): Buffer {
    this.#read(body)
    return body
  }

  #read(bytes: Buffer): void {
    const signature = lastSignature(bytes, this.#names)
    if (signature !== null) this.#remember(signature)
  }
}
