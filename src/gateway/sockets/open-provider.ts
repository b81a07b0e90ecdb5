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
import type { Answer } from '../upstream/evaluate.ts'
import { holdAccount } from '../upstream/hold-account.ts'
import { holdBudgets } from '../upstream/hold-budgets.ts'
import { hideAccount } from '../upstream/leg.ts'
import { planFor } from '../upstream/plan-call.ts'
import { attemptAll } from '../upstream/send.ts'

/** The provider's side of an open connection. */
export interface OpenedProvider {
  peer: Peer
  /** Removes account ids and the credential from the provider's closing words. */
  clean(bytes: Buffer): Buffer
  provider: LiveProvider
  credentialIndex: number
  headers: string[]
}

export type Opened =
  | { kind: 'open'; end: OpenedProvider }
  /** The provider refused the handshake; its answer is passed on. */
  | { kind: 'refused'; answer: Answer; retryAfterMs: number | null }
  | { kind: 'failed'; fault: Fault }
  | { kind: 'gone' }

/** The largest message in either direction: the same limit as for bodies. */
export function maxFrame({ gateway, policy }: Call): number {
  return maxBody(policy, gateway.settings.bodyLimit)
}

/**
 * Rejects before the handshake is answered, so that clients switch to HTTP at once: after a connection has been opened and failed, they
 * retry many times first. Null: some provider of the key's routes may have this WebSocket, or that cannot be known yet.
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
  // If the handshake names the model, its route says more, as does the choice of a provider without one.
  if (model !== 'body' && (used.length === 0 || inspection.model === null)) return null
  return used.some(mayHave) ? null : fault('websocket_unavailable')
}

/** Plans, journals and connects as for any call, with the handshake in place of request and answer. */
export async function openProvider(call: Call): Promise<Opened> {
  const planned = planFor(call)
  if (planned.fault !== null) return { kind: 'failed', fault: planned.fault }
  const unaffordable = call.arrival.limits === null ? null : await holdBudgets(call, planned)
  if (unaffordable !== null) return { kind: 'failed', fault: unaffordable }
  if (call.gateway.model.configuration.limitsAccounts) await holdAccount(call, planned)
  await journalAdmitted(call)
  if (call.abort.aborted) return { kind: 'gone' }
  // As after an upload: the time that the client took so far does not count against the limits.
  call.arrival.completeAt = performance.now()
  const { bodyLimit, proxies } = call.gateway.settings
  const handshake = new Handshake(bodyLimit, versionHeaders(call), proxies)
  call.transport = handshake
  const outcome = await attemptAll(call, planned)
  if (outcome.kind === 'answered' && handshake.peer === null) recordGap(outcome.answer)
  return readHandshake(handshake, outcome)
}

/** If the handshake names a model, the refusal may be about the model. */
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
  // Once it is open, the time limits of the handshake no longer apply.
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

/** Browsers cannot set headers, so they name the API version in a subprotocol. */
function versionHeaders(call: Call): string[] {
  const offered = call.header('sec-websocket-protocol')?.split(',') ?? []
  return offered.some((each) => each.trim() === 'openai-beta.realtime-v1') ? ['openai-beta', 'realtime=v1'] : []
}
