import { type Fault, fault } from '../../core/errors.ts'
import { reachFaultPoint } from '../../core/fault-point.ts'
import { effectivePolicy, maxBody } from '../../policy/admit.ts'
import { Handshake } from '../../providers/socket.ts'
import type { Peer } from '../../providers/socket-peer.ts'
import type { Attempted } from '../../routing/attempt.ts'
import { estimateHold } from '../estimate.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import type { Answer } from '../judge.ts'
import { attemptAll } from '../pipeline.ts'
import { planFor } from '../plan-call.ts'
import type { LiveProvider } from '../read-model.ts'

/** The provider's side of a connection that stands. */
export interface OpenedProvider {
  peer: Peer
  /** Takes account ids and the credential out of what it says in its closing frame. */
  clean(bytes: Buffer): Buffer
  provider: LiveProvider
  credentialIndex: number
  headers: string[]
}

export type Opened =
  | { kind: 'open'; end: OpenedProvider }
  /** The provider's own refusal, which passes. */
  | { kind: 'refused'; answer: Answer; retryAfterMs: number | null }
  | { kind: 'failed'; fault: Fault }
  | { kind: 'gone' }

/** Largest message, either way: as for bodies. */
export function maxFrame(gateway: Gateway, exchange: Exchange): number {
  const policy = effectivePolicy(gateway.model.configuration.policies, exchange.key!)
  return maxBody(policy, gateway.settings.bodyLimit)
}

/** Plan, journal, dial: as for any call, with the handshake in the place of request and answer. */
export async function openProvider(gateway: Gateway, exchange: Exchange): Promise<Opened> {
  const planned = planFor(gateway, exchange)
  if (planned.fault !== null) return { kind: 'failed', fault: planned.fault }
  exchange.mark('admitted')
  await gateway.journal.append({ kind: 'admitted', record: exchange.record('admitted', null, estimateHold(exchange)) })
  reachFaultPoint('journal.after-admitted')
  if (exchange.stopped) return { kind: 'gone' }
  // As it is after an upload: what the client took to come here is no part of the limits.
  exchange.complete = performance.now()
  const handshake = new Handshake(gateway.settings.bodyLimit, versionHeaders(exchange), gateway.settings.proxies)
  exchange.handshake = handshake
  return read(handshake, await attemptAll(gateway, exchange, planned))
}

function read(handshake: Handshake, outcome: Attempted<Answer>): Opened {
  if (outcome.kind !== 'answered') {
    handshake.peer?.terminate()
    return outcome
  }
  const { answer, retryAfterMs } = outcome
  const { peer } = handshake
  if (peer === null && answer.error !== null) return { kind: 'refused', answer, retryAfterMs }
  if (peer === null) {
    answer.call.abort()
    const message = `The provider answered the handshake with ${answer.gated.head.status}: it has no WebSocket there.`
    return { kind: 'failed', fault: fault('provider_bad_response', message) }
  }
  // Its limits were the handshake's.
  answer.call.abort()
  const { provider, credentialIndex, clean, gated } = answer
  return { kind: 'open', end: { peer, clean, provider, credentialIndex, headers: gated.head.headers } }
}

/** A browser has no headers to say which version it means, and offers it as a subprotocol. */
function versionHeaders(exchange: Exchange): string[] {
  const offered = exchange.header('sec-websocket-protocol')?.split(',') ?? []
  return offered.some((each) => each.trim() === 'openai-beta.realtime-v1') ? ['openai-beta', 'realtime=v1'] : []
}
