import { type Fault, fault } from '../../core/errors.ts'
import type { AttemptRecord } from '../../core/record.ts'
import type { StreamedError } from '../../lanes/contract.ts'
import type { AnswerHead, Meaning } from '../../providers/contract.ts'
import type { Failure, Sent } from '../../routing/attempt.ts'
import type { Entry } from '../../routing/health.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { TrafficEvent } from '../gateway.ts'
import { hideInHeaders, hideInText } from './hide-credential.ts'
import type { Leg } from './leg.ts'
import type { Gated, Head, UpstreamCall } from './upstream-call.ts'

/** What goes to the client: content that has begun, a whole answer, or a provider's own error that passes. */
export interface Answer {
  leg: Leg
  upstream: UpstreamCall
  gated: Extract<Gated, { head: Head }>
  attempt: AttemptRecord
  /** The provider's error body, cleaned; null for answers. */
  error: { body: Buffer } | null
}

/** An upstream call that has come to its gate. */
interface Outcome {
  leg: Leg
  upstream: UpstreamCall
  attempt: AttemptRecord
  gated: Gated
}

/** What an outcome means: what to do next, and what it says of the provider. `applyEvaluation` acts on it. */
export interface AttemptEvaluation {
  sent: Sent<Answer>
  /** For the breaker; `abandoned`: nothing was learned about the provider. */
  health: 'success' | 'failure' | 'abandoned'
  /** The credential may not be used: for good (`rejected`), or until a moment in epoch milliseconds. */
  cooldown?: 'rejected' | number
  /** For the control plane. */
  report?: TrafficEvent
  /** Another credential of the pool may be tried at once, if there is one. */
  tryOtherCredential?: true
}

export function evaluate(outcome: Outcome): AttemptEvaluation {
  const gated = withoutCredential(outcome)
  switch (gated.kind) {
    case 'aborted':
      return { sent: { kind: 'gone' }, health: 'abandoned' }
    case 'failed':
      return evaluateFault(outcome.leg, gated.fault)
    case 'error-event':
      return evaluateErrorEvent(outcome, gated)
    case 'error':
      return evaluateError(outcome, gated)
    default:
      return goesToClient(outcome, gated)
  }
}

/** The one place where an outcome changes the provider's health and its credentials, and is reported. */
export function applyEvaluation(leg: Leg, entry: Entry, evaluation: AttemptEvaluation): Sent<Answer> {
  const { health, report } = leg.call.gateway
  const { slot } = leg.provider.row
  const now = Date.now()
  if (evaluation.health === 'success') health.recordSuccess(slot, entry, now)
  else if (evaluation.health === 'failure') health.recordFailure(slot, entry, now)
  else health.abandon(slot, entry)
  if (evaluation.cooldown === 'rejected') health.rejectCredential(slot, leg.credentialIndex, poolSize(leg), now)
  else if (evaluation.cooldown !== undefined) health.coolDownCredential(slot, leg.credentialIndex, evaluation.cooldown)
  if (evaluation.report !== undefined) report(evaluation.report)
  const { sent } = evaluation
  if (evaluation.tryOtherCredential === true && sent.kind === 'failed' && hasOtherCredential(leg))
    return { kind: 'failed', failure: { ...sent.failure, next: 'credential' } }
  return sent
}

/** A provider may repeat what it was sent: none of the headers that hold the credential passes. */
function withoutCredential({ gated, leg }: Outcome): Gated {
  if (!('head' in gated) || leg.credential === null) return gated
  const headers = hideInHeaders(gated.head.headers, leg.credential, (names) =>
    leg.call.trace.note(
      'credential',
      `Headers of the answer held the provider's credential and were left out: ${names.join(', ')}.`,
    ),
  )
  return headers === gated.head.headers ? gated : { ...gated, head: { ...gated.head, headers } }
}

function goesToClient(outcome: Outcome, gated: Answer['gated'], error: Answer['error'] = null): AttemptEvaluation {
  const { leg, upstream, attempt } = outcome
  return { sent: { kind: 'answered', answer: { leg, upstream, attempt, gated, error } }, health: 'success' }
}

function evaluateFault(leg: Leg, reason: Fault): AttemptEvaluation {
  // A provider that used up its time once would use it up again: the next target is the better bet.
  const next = reason.code === 'provider_timeout' || reason.code === 'overloaded' ? 'target' : 'retry'
  const failure = { fault: reason, answer: null, next, retryAfterMs: null, reason: reason.message } as const
  // The gateway's own trouble says nothing of the provider; another target may have a connection open.
  if (reason.code === 'overloaded')
    return { sent: { kind: 'failed', failure: { ...failure, fallback: true } }, health: 'abandoned' }
  return { sent: failed(leg, failure, reason.code), health: 'failure' }
}

function evaluateErrorEvent(outcome: Outcome, gated: Extract<Gated, { kind: 'error-event' }>): AttemptEvaluation {
  const { leg, upstream } = outcome
  const { status, message } = gated.error
  const meaning = classifyErrorEvent(leg, gated.error)
  if (meaning.verdict === 'quota-exhausted') {
    upstream.abort()
    return evaluateRejectedCredential(leg, meaning, status ?? assumedStatus)
  }
  if (isCallers(status)) return goesToClient(outcome, { kind: 'stream', head: gated.head })
  upstream.abort()
  const cleaned = hideAccount(leg, Buffer.from(message)).toString()
  const reason = fault(
    'provider_bad_response',
    `The provider ended its stream with an error before any content: ${cleaned}`,
  )
  const failure = { fault: reason, answer: null, next: 'retry', retryAfterMs: null, reason: cleaned } as const
  return { sent: failed(leg, failure, reason.code), health: 'failure' }
}

const assumedStatus = 429

/** As if the error had come with its status, before the stream began. One without a status may still be about the account. */
function classifyErrorEvent({ lane, provider }: Leg, { status, written }: StreamedError): Meaning {
  const head = { status: status ?? assumedStatus, headers: new Map<string, string>() }
  return provider.kind.classify(lane.name, head, Buffer.from(JSON.stringify({ error: written })))
}

/** Whether an error event says that the request itself is wrong: every other provider would reject it too. */
function isCallers(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && ![401, 402, 408, 409, 425, 429].includes(status)
}

function evaluateError(outcome: Outcome, gated: Extract<Gated, { kind: 'error' }>): AttemptEvaluation {
  const { leg } = outcome
  const { status } = gated.head
  const meaning = leg.provider.kind.classify(leg.lane.name, answerHead(gated.head), gated.body)
  if (meaning.verdict === 'credential-rejected' || meaning.verdict === 'quota-exhausted')
    return leg.call.clientSecret !== null && meaning.verdict === 'credential-rejected'
      ? endOfClientSecret(leg)
      : evaluateRejectedCredential(leg, meaning, status)
  const passed = goesToClient(outcome, gated, { body: hideAccount(leg, gated.body) })
  if (passed.sent.kind !== 'answered') return passed
  const { answer } = passed.sent
  if (meaning.verdict === 'retry') return evaluateRetry(leg, answer, meaning.retryAfterMs)
  const evaluation = leg.route?.fallbackOn.includes(String(status)) ? fallBack(leg, answer) : passed
  if (meaning.verdict !== 'credential-doubtful') return evaluation
  const credentialId = credentialIdOf(leg)
  return { ...evaluation, report: { type: 'credential-doubtful', providerId: leg.provider.row.id, credentialId } }
}

function fallBack(leg: Leg, answer: Answer): AttemptEvaluation {
  const { status } = answer.gated.head
  const reason = `answered ${status}, on which this route falls back`
  const failure = { fault: fault('provider_bad_response'), answer, next: 'target', retryAfterMs: null, reason } as const
  return { sent: failed(leg, failure, String(status)), health: 'success' }
}

/** It was the client's own, made for a while: nothing is wrong with the one that is stored. */
function endOfClientSecret(leg: Leg): AttemptEvaluation {
  const what = fault('invalid_key', 'The provider no longer accepts this credential for clients. Ask for a new one.')
  const failure = { fault: what, answer: null, next: 'target', retryAfterMs: null, reason: what.message } as const
  return { sent: failed(leg, failure, what.code), health: 'success' }
}

/** The cooldown of one of several credentials after a 429 that did not say how long, and its bounds. */
const limitCooldownMs = 5000
const shortestCooldownMs = 1000
const longestCooldownMs = 60 * 60_000

function evaluateRetry(leg: Leg, answer: Answer, retryAfterMs: number | null): AttemptEvaluation {
  const { status } = answer.gated.head
  const wait = retryAfterMs === null ? '' : ` and asked to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const reason = `answered ${status}${wait}`
  const failure = { fault: fault('provider_bad_response'), answer, next: 'retry', retryAfterMs, reason } as const
  const sent = failed(leg, failure, String(status))
  if (status !== 429) return { sent, health: 'failure' }
  // A provider that keeps its limits is healthy; only this credential of it is used up.
  if (leg.provider.credentials.length <= 1) return { sent, health: 'success' }
  const cooldownMs = Math.min(Math.max(retryAfterMs ?? limitCooldownMs, shortestCooldownMs), longestCooldownMs)
  return { sent, health: 'success', cooldown: Date.now() + cooldownMs, tryOtherCredential: true }
}

/** How long an account without quota is left alone before traffic tries it again; the check may end that sooner. */
const quotaCooldownMs = 60_000

function evaluateRejectedCredential(leg: Leg, { verdict }: Meaning, status: number): AttemptEvaluation {
  const rejected = verdict === 'credential-rejected'
  const reason = rejected
    ? `the provider refused the stored credential (${status})`
    : `the provider's account is out of quota (${status})`
  const what = fault(rejected ? 'provider_credential_rejected' : 'provider_quota_exhausted')
  const failure = { fault: what, answer: null, next: 'target', retryAfterMs: null, reason } as const
  return {
    sent: failed(leg, failure, what.code),
    health: 'abandoned',
    cooldown: rejected ? 'rejected' : Date.now() + quotaCooldownMs,
    report: {
      type: rejected ? 'credential-rejected' : 'quota-exhausted',
      providerId: leg.provider.row.id,
      credentialId: credentialIdOf(leg),
      reason,
    },
    tryOtherCredential: true,
  }
}

/** Whether the pool has another credential that may be tried at once. A request goes through a pool once. */
function hasOtherCredential(leg: Leg): boolean {
  const { call, candidate, provider } = leg
  if (candidate.credentialId !== undefined) return false
  const size = poolSize(leg)
  const tried = call.trace.attempts.filter((attempt) => attempt.provider === provider.row.name).length
  if (size <= 1 || tried >= size) return false
  const { state } = call.gateway.health.view(provider.row.slot, Date.now(), size)
  return state !== 'failing' && state !== 'cooling-down'
}

function poolSize({ provider }: Leg): number {
  return Math.max(1, provider.credentials.length)
}

function failed({ route }: Leg, failure: Omit<Failure<Answer>, 'fallback'>, condition: string): Sent<Answer> {
  const conditions = route?.fallbackOn ?? []
  const fallback = conditions.length === 0 || conditions.includes(condition)
  return { kind: 'failed', failure: { ...failure, fallback } }
}

/** A failure's outcome as it stands if nothing follows; `recordStep` in send.ts changes it when a retry or a fallback does. */
export function outcomeOf(sent: Sent<Answer>): string {
  if (sent.kind === 'gone') return 'aborted'
  if (sent.kind === 'answered') return sent.answer.error === null ? 'answered' : 'passed'
  return sent.failure.answer === null ? sent.failure.fault.code : 'passed'
}

/** A target that could not even be tried. */
export function notReady(candidate: Candidate, reason: string): Sent<Answer> {
  const what = fault(
    'provider_not_ready',
    `Provider ${candidate.provider.name} cannot serve now: ${reason}. Try again later.`,
  )
  const failure = { fault: what, answer: null, next: 'target', retryAfterMs: null, reason } as const
  return { kind: 'failed', failure: { ...failure, fallback: true } }
}

/** Which credential of the pool was used, by its id; null where the provider asks for none. */
export function credentialIdOf({
  provider,
  credentialIndex,
}: Pick<Leg, 'provider' | 'credentialIndex'>): string | null {
  return provider.row.credentials[credentialIndex]?.id ?? null
}

/** A provider's error without account ids and the credential that it was asked with. */
export function hideAccount({ provider, credential }: Pick<Leg, 'provider' | 'credential'>, bytes: Buffer): Buffer {
  const scrubbed = provider.kind.scrub(bytes)
  if (credential === null) return scrubbed
  // Latin-1 keeps every byte through the round trip.
  const text = scrubbed.toString('latin1')
  const masked = hideInText(text, credential)
  return masked === text ? scrubbed : Buffer.from(masked, 'latin1')
}

function answerHead(head: Head): AnswerHead {
  const headers = new Map<string, string>()
  for (const [index, name] of head.headers.entries())
    if (index % 2 === 0) headers.set(name, head.headers[index + 1] ?? '')
  return { status: head.status, headers }
}
