import type { AttemptRecord } from '../../core/record.ts'
import type { Sent } from '../../routing/attempt.ts'
import { type CallEntry, type CallOutcome, longestLimitMs } from '../../routing/health.ts'
import type { Answer, AttemptEvaluation, CredentialOutcome } from './evaluate.ts'
import { credentialIdOf, type Leg } from './leg.ts'

/** How long an account without quota is skipped before traffic tries it again. A check may end that sooner. */
const quotaCooldownMs = 60_000
/** The same for a credential that no check can verify. */
const rejectedCooldownMs = 30_000
/** Cooldown after a 429 that names no time, if there are several credentials; then the bounds for a time that it does name. */
const limitMs = 5000
const shortestLimitMs = 1000

/** The one place where an outcome changes the health of the provider and its credentials, and is reported. */
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

/**
 * How long the attempt took, for routes that choose by latency. A failure counts as the longest time allowed. The duration of an answer
 * that still flows is not known yet.
 */
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

/** An answer whose content had begun broke off. It had been counted as a success. */
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

/** The first answer verifies the provider; any answer verifies its credential if no check can. */
function recordAccepted(leg: Leg): void {
  const { health, report } = leg.call.gateway
  const { id, slot, readiness } = leg.provider.row
  if (!leg.provider.provesCredential) health.trustCredential(slot, leg.credentialIndex)
  if (readiness.state === 'unchecked' && health.markAnswered(slot, Date.now()))
    report({ type: 'provider-answered', providerId: id })
}

/**
 * Until the limit ends, the credential is the last choice for this model. A single credential is still used if the provider named no time.
 */
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
  // All credentials have reached their limits. If the provider named no time, waiting does not help.
  if (goesOn || single || retryAfterMs !== null || next.kind !== 'failed') return next
  return { kind: 'failed', failure: { ...next.failure, next: 'target' } }
}

/** Tries another credential of the pool at once, if there is one that this request has not tried at this target. */
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
