import type { AttemptRecord } from '../../core/record.ts'
import type { Sent } from '../../routing/attempt.ts'
import { type CallEntry, type CallOutcome, longestLimitMs } from '../../routing/health.ts'
import { type Answer, type AttemptEvaluation, type CredentialOutcome, credentialIdOf } from './evaluate.ts'
import type { Leg } from './leg.ts'

/** How long an account without quota is left alone before traffic tries it again; the check may end that sooner. */
const quotaCooldownMs = 60_000
/** The same for a credential that no check can prove. */
const rejectedCooldownMs = 30_000
/** After a 429 that did not say how long, where there are several credentials; and the bounds of what one says. */
const limitMs = 5000
const shortestLimitMs = 1000

/** The one place where an outcome changes the provider's health and its credentials, and is reported. */
export function applyEvaluation(
  leg: Leg,
  entry: CallEntry,
  evaluation: AttemptEvaluation,
  attempt: AttemptRecord,
): Sent<Answer> {
  if (leg.route?.strategy === 'latency') recordLatency(leg, evaluation, attempt)
  const { health, report } = leg.call.gateway
  const { row } = leg.provider
  const trip = health.record(entry, leg.candidate.watched, evaluation.health, leg.caller, Date.now())
  if (trip !== null) report({ type: 'calls-failing', providerId: row.id, trip })
  const { sent, credential } = evaluation
  return credential === undefined ? sent : applyToCredential(leg, credential, sent)
}

/** How long the attempt took, for routes that go by it; a failure took as long as it may. Of what flows on nothing is known yet. */
function recordLatency(leg: Leg, { sent, health: { target } }: AttemptEvaluation, attempt: AttemptRecord): void {
  const { streamed } = leg.inspection
  const { limits, candidate } = leg
  const { latency } = leg.call.gateway.health
  if (target === 'failure')
    return latency.record(candidate.watched, streamed, streamed ? limits.firstByte : limits.total, Date.now())
  if (sent.kind !== 'answered' || sent.answer.error !== null || sent.answer.gated.kind === 'flow') return
  const until = streamed ? attempt.first_byte_ms : attempt.ended_ms
  if (until !== null) latency.record(candidate.watched, streamed, until - attempt.started_ms, Date.now())
}

/** An answer whose content had begun, which counted as a success, broke off. */
export function applyBreak({ call, candidate, caller, provider }: Leg, outcome: CallOutcome): void {
  const { health, report } = call.gateway
  const trip = health.recordBreak(candidate.watched, outcome, caller, Date.now())
  if (trip !== null) report({ type: 'calls-failing', providerId: provider.row.id, trip })
}

function applyToCredential(leg: Leg, outcome: CredentialOutcome, sent: Sent<Answer>): Sent<Answer> {
  const { health, report } = leg.call.gateway
  const { id: providerId, slot } = leg.provider.row
  switch (outcome.kind) {
    case 'accepted':
      recordAccepted(leg)
      return sent
    case 'doubtful':
      report({ type: 'credential-suspect', providerId, credentialId: credentialIdOf(leg), reason: null })
      return sent
    case 'suspect':
      if (leg.provider.provesCredential)
        report({ type: 'credential-suspect', providerId, credentialId: credentialIdOf(leg), reason: outcome.reason })
      else if (!outcome.alone)
        health.suspectCredential(slot, leg.credentialIndex, leg.call.key.id, Date.now() + rejectedCooldownMs)
      return tryOther(leg, sent, (index) => !health.isCoolingDown(slot, index, Date.now()))
    case 'exhausted':
      health.coolDownCredential(slot, leg.credentialIndex, Date.now() + quotaCooldownMs, true)
      report({ type: 'quota-exhausted', providerId, credentialId: credentialIdOf(leg), reason: outcome.reason })
      return tryOther(leg, sent, (index) => !health.isCoolingDown(slot, index, Date.now()))
    case 'limited':
      return applyLimit(leg, outcome.retryAfterMs, sent)
  }
}

/** The first answer proves the provider, and any answer its credential where no check does. */
function recordAccepted(leg: Leg): void {
  const { health, report } = leg.call.gateway
  const { id, slot, readiness } = leg.provider.row
  if (!leg.provider.provesCredential) health.trustCredential(slot, leg.credentialIndex)
  if (readiness.state === 'unchecked' && health.markAnswered(slot, Date.now()))
    report({ type: 'provider-answered', providerId: id })
}

/** Until then the credential is the last choice for this model. Without a word of the provider a single one is tried on. */
function applyLimit(leg: Leg, retryAfterMs: number | null, sent: Sent<Answer>): Sent<Answer> {
  const { health } = leg.call.gateway
  const { watched } = leg.candidate
  const now = Date.now()
  const single = poolSize(leg) === 1
  if (!single || retryAfterMs !== null) {
    const wait = Math.min(Math.max(retryAfterMs ?? limitMs, shortestLimitMs), longestLimitMs)
    health.limitCredential(watched, leg.credentialIndex, now + wait)
  }
  const next = tryOther(leg, sent, (index) => health.isUsable(watched, index, now))
  const goesOn = next.kind === 'failed' && next.failure.next === 'credential'
  // All have met their limits: without a word of when it ends, waiting helps nobody.
  if (goesOn || single || retryAfterMs !== null || next.kind !== 'failed') return next
  return { kind: 'failed', failure: { ...next.failure, next: 'target' } }
}

/** Another credential of the pool at once, if there is one that this request has not tried here. */
function tryOther(leg: Leg, sent: Sent<Answer>, isUsable: (index: number) => boolean): Sent<Answer> {
  if (sent.kind !== 'failed' || leg.candidate.credentialId !== undefined) return sent
  for (let index = 0; index < poolSize(leg); index++)
    if (!leg.tried.includes(index) && isUsable(index))
      return { kind: 'failed', failure: { ...sent.failure, next: 'credential' } }
  return sent
}

function poolSize({ provider }: Leg): number {
  return Math.max(1, provider.credentials.length)
}
