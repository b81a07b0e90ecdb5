import { type Fault, fault } from '../../core/errors.ts'
import { maxBody } from '../../policy/admit.ts'
import { Handshake } from '../../providers/socket.ts'
import type { Peer } from '../../providers/socket-peer.ts'
import type { Attempted } from '../../routing/attempt.ts'
import { mayUse, servesOperation } from '../../routing/plan.ts'
import type { SnapshotProvider } from '../../store/configuration/snapshot.ts'
import { journalAdmitted } from '../answer/settle.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import { type Answer, hideAccount } from '../upstream/evaluate.ts'
import { holdAccount } from '../upstream/hold-account.ts'
import { holdBudgets } from '../upstream/hold-budgets.ts'
import { planFor } from '../upstream/plan-call.ts'
import { attemptAll } from '../upstream/send.ts'

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
export function maxFrame({ gateway, policy }: Call): number {
  return maxBody(policy, gateway.settings.bodyLimit)
}

/**
 * Said before the handshake is answered: clients go over to HTTP at once then, and only after many tries where a
 * connection stands and fails. Null: some provider that the key's routes use may have this WebSocket, or none can be known yet.
 */
export function rejectWithoutSocket({ gateway, key, lane, match, inspection, arrival }: Call): Fault | null {
  const { scopes } = gateway.model.configuration.routes
  const { operation, model } = match.endpoint
  const mayHave = (provider: SnapshotProvider) =>
    provider.active &&
    mayUse(key, provider) &&
    gateway.kinds.get(provider.kind)?.lanes.includes(lane.name) === true &&
    servesOperation(gateway.kinds.get(provider.kind), provider, operation) &&
    !gateway.socketGaps.isRecorded(provider.id, operation, arrival.receivedAt)
  const used = [key.environmentId, key.projectId].flatMap((id) => [...(scopes.get(id)?.providers ?? [])])
  // Where the handshake names the model, its route says more, and so does the choice of a provider without one.
  if (model !== 'body' && (used.length === 0 || inspection.model === null)) return null
  return used.some(mayHave) ? null : fault('websocket_unavailable')
}

/** Plan, journal, dial: as for any call, with the handshake in the place of request and answer. */
export async function openProvider(call: Call): Promise<Opened> {
  const planned = planFor(call)
  if (planned.fault !== null) return { kind: 'failed', fault: planned.fault }
  const unaffordable = call.arrival.limits === null ? null : await holdBudgets(call, planned)
  if (unaffordable !== null) return { kind: 'failed', fault: unaffordable }
  if (call.gateway.model.configuration.limitsAccounts) await holdAccount(call, planned)
  await journalAdmitted(call)
  if (call.abort.aborted) return { kind: 'gone' }
  // As it is after an upload: what the client took to come here is no part of the limits.
  call.arrival.completeAt = performance.now()
  const { bodyLimit, proxies } = call.gateway.settings
  const handshake = new Handshake(bodyLimit, versionHeaders(call), proxies)
  call.transport = handshake
  const outcome = await attemptAll(call, planned)
  if (outcome.kind === 'answered' && handshake.peer === null) recordGap(outcome.answer)
  return readHandshake(handshake, outcome)
}

/** Where the handshake names a model, the answer may be about that. */
function recordGap({ leg, gated }: Answer): void {
  const { call, match, provider } = leg
  if (match.endpoint.model !== 'body') return
  call.gateway.socketGaps.record(provider.row.id, match.endpoint.operation, gated.head.status, Date.now())
}

function readHandshake(handshake: Handshake, outcome: Attempted<Answer>): Opened {
  if (outcome.kind !== 'answered') {
    handshake.peer?.terminate()
    return outcome
  }
  const { answer, retryAfterMs } = outcome
  const { peer } = handshake
  if (peer === null && answer.error !== null) return { kind: 'refused', answer, retryAfterMs }
  // Where it stands, the limits were the handshake's.
  answer.upstream.abort()
  const { leg, gated } = answer
  if (peer === null) {
    const message = `The provider answered the handshake with ${gated.head.status}: it has no WebSocket there.`
    return { kind: 'failed', fault: fault('provider_bad_response', message) }
  }
  const { provider, credentialIndex } = leg
  const clean = (bytes: Buffer) => hideAccount(leg, bytes)
  return { kind: 'open', end: { peer, clean, provider, credentialIndex, headers: gated.head.headers } }
}

/** A browser has no headers to say which version it means, and offers it as a subprotocol. */
function versionHeaders(call: Call): string[] {
  const offered = call.header('sec-websocket-protocol')?.split(',') ?? []
  return offered.some((each) => each.trim() === 'openai-beta.realtime-v1') ? ['openai-beta', 'realtime=v1'] : []
}
