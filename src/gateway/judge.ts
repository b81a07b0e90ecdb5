import { type Fault, fault } from '../core/errors.ts'
import type { AttemptRecord } from '../core/record.ts'
import type { Secret } from '../core/secret.ts'
import type { AnswerHead, Meaning } from '../providers/contract.ts'
import type { Failure, Sent } from '../routing/attempt.ts'
import type { Entry } from '../routing/health.ts'
import type { Candidate } from '../routing/plan.ts'
import type { SnapshotRoute } from '../store/snapshot.ts'
import type { Call, Gated, Head } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { hideInHeaders, hideInText } from './hide-credential.ts'
import type { LiveProvider } from './read-model.ts'

/** What goes to the client: content that has begun, a whole answer, or a provider's own error that passes. */
export interface Answer {
  call: Call
  gated: Extract<Gated, { head: Head }>
  attempt: AttemptRecord
  /** The provider's error body, cleaned; null for answers. */
  error: { body: Buffer } | null
  /** Who answered, and with which place of its pool it was asked. */
  provider: LiveProvider
  credentialIndex: number
  /** Takes account ids and the credential out of a provider's error. */
  clean(error: Buffer): Buffer
}

/** One call that has come to its gate, and with what it was made. */
export interface Result {
  attempt: AttemptRecord
  provider: LiveProvider
  /** Place of the credential in the provider's pool. */
  credentialIndex: number
  /** What it was asked with: the client's own, or the one of the pool; null: nothing. */
  secret: Secret | null
  /** No other credential may be tried. */
  pinned: boolean
  entry: Entry
  call: Call
  gated: Gated
}

interface Judge {
  gateway: Gateway
  exchange: Exchange
  route: SnapshotRoute | null
}

/** What a call's outcome means: an answer, or a failure that says what to try next. Keeps the provider's health. */
export function judge(judging: Judge, result: Result): Sent<Answer> {
  const { health } = judging.gateway
  const { entry } = result
  const gated = withoutCredential(judging.exchange, result)
  const { slot } = result.provider.row
  switch (gated.kind) {
    case 'aborted':
      health.abandon(slot, entry)
      return { kind: 'gone' }
    case 'failed':
      health.recordFailure(slot, entry, Date.now())
      return judgeFailed(judging.route, gated.fault)
    case 'error-event':
      return judgeErrorEvent(judging, result, gated)
    case 'error':
      return judgeError(judging, result, gated)
    default:
      health.recordSuccess(slot, entry, Date.now())
      return { kind: 'answered', answer: answerOf(result, gated, null) }
  }
}

/** A provider may say again what it was sent: of the headers that hold it none passes. */
function withoutCredential(exchange: Exchange, { gated, secret }: Result): Gated {
  if (!('head' in gated) || secret === null) return gated
  const headers = hideInHeaders(gated.head.headers, secret, (names) =>
    exchange.routingSignals.push({
      rule: 'credential',
      verdict: 'note',
      text: `Headers of the answer held the provider's credential and were left out: ${names.join(', ')}.`,
    }),
  )
  return headers === gated.head.headers ? gated : { ...gated, head: { ...gated.head, headers } }
}

function judgeFailed(route: SnapshotRoute | null, reason: Fault): Sent<Answer> {
  // A provider that used up its time once would use it up again: the next target is the better bet.
  const next = reason.code === 'provider_timeout' ? 'target' : 'retry'
  return failed(route, { fault: reason, answer: null, next, retryAfterMs: null, reason: reason.message }, reason.code)
}

function judgeErrorEvent(
  { gateway, route }: Judge,
  result: Result,
  gated: Extract<Gated, { kind: 'error-event' }>,
): Sent<Answer> {
  const { slot } = result.provider.row
  if (isCallers(gated.error.status)) {
    gateway.health.recordSuccess(slot, result.entry, Date.now())
    return { kind: 'answered', answer: answerOf(result, { kind: 'stream', head: gated.head }, null) }
  }
  gateway.health.recordFailure(slot, result.entry, Date.now())
  result.call.abort()
  const message = clean(result, Buffer.from(gated.error.message)).toString()
  const reason = fault(
    'provider_bad_response',
    `The provider ended its stream with an error before any content: ${message}`,
  )
  return failed(route, { fault: reason, answer: null, next: 'retry', retryAfterMs: null, reason: message }, reason.code)
}

/** Whether an error event says that the request itself is wrong, so that nobody else would answer it otherwise. */
function isCallers(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && ![401, 402, 408, 409, 425, 429].includes(status)
}

function judgeError(judging: Judge, result: Result, gated: Extract<Gated, { kind: 'error' }>): Sent<Answer> {
  const { gateway, exchange, route } = judging
  const { kind, row } = result.provider
  const meaning = kind.classify(exchange.lane!.name, answerHead(gated.head), gated.body)
  const answer = answerOf(result, gated, { body: clean(result, gated.body) })
  const status = gated.head.status
  if (exchange.clientSecret !== null && meaning.verdict === 'credential-rejected') return endOfSecret(judging, result)
  switch (meaning.verdict) {
    case 'credential-rejected':
    case 'quota-exhausted':
      return restCredential(judging, result, meaning, status)
    case 'retry':
      return judgeRetry(judging, result, answer, meaning.retryAfterMs)
    case 'credential-doubtful':
      gateway.report({ type: 'credential-doubtful', providerId: row.id, credentialId: credentialId(result) })
  }
  gateway.health.recordSuccess(row.slot, result.entry, Date.now())
  if (route?.fallbackOn.includes(String(status))) {
    const reason = `answered ${status}, on which this route falls back`
    return failed(
      route,
      { fault: fault('provider_bad_response'), answer, next: 'target', retryAfterMs: null, reason },
      String(status),
    )
  }
  return { kind: 'answered', answer }
}

/** It was the client's own, made for a while: nothing is wrong with the one that is stored. */
function endOfSecret({ gateway, route }: Judge, result: Result): Sent<Answer> {
  gateway.health.recordSuccess(result.provider.row.slot, result.entry, Date.now())
  const what = fault('invalid_key', 'The provider no longer accepts this credential for clients. Ask for a new one.')
  return failed(
    route,
    { fault: what, answer: null, next: 'target', retryAfterMs: null, reason: what.message },
    what.code,
  )
}

/** How long one of several credentials rests after a 429 that did not say, at least, and at most. */
const limitRestMs = 5000
const shortestRestMs = 1000
const longestRestMs = 60 * 60_000

function judgeRetry(judging: Judge, result: Result, answer: Answer, retryAfterMs: number | null): Sent<Answer> {
  const { health } = judging.gateway
  const { slot } = result.provider.row
  const status = answer.gated.head.status
  const wait = retryAfterMs === null ? '' : ` and asked to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const failure = { fault: fault('provider_bad_response'), answer, retryAfterMs, reason: `answered ${status}${wait}` }
  if (status !== 429) {
    health.recordFailure(slot, result.entry, Date.now())
    return failed(judging.route, { ...failure, next: 'retry' }, String(status))
  }
  // A provider that keeps its limits is well; only this credential of it is used up.
  health.recordSuccess(slot, result.entry, Date.now())
  const others = result.provider.credentials.length > 1
  const restMs = Math.min(Math.max(retryAfterMs ?? limitRestMs, shortestRestMs), longestRestMs)
  if (others) health.coolDownCredential(slot, result.credentialIndex, Date.now() + restMs)
  return failed(
    judging.route,
    { ...failure, next: others && hasMore(judging, result) ? 'credential' : 'retry' },
    String(status),
  )
}

/** How long an account without quota rests before traffic tries it again; the check may end it sooner. */
const quotaRestMs = 60_000

function restCredential(judging: Judge, result: Result, meaning: Meaning, status: number): Sent<Answer> {
  const { health, report } = judging.gateway
  const { slot, id } = result.provider.row
  const now = Date.now()
  const rejected = meaning.verdict === 'credential-rejected'
  const reason = rejected
    ? `the provider refused the stored credential (${status})`
    : `the provider's account is out of quota (${status})`
  health.abandon(slot, result.entry)
  if (rejected) health.rejectCredential(slot, result.credentialIndex, poolSize(result), now)
  else health.coolDownCredential(slot, result.credentialIndex, now + quotaRestMs)
  report({
    type: rejected ? 'credential-rejected' : 'quota-exhausted',
    providerId: id,
    credentialId: credentialId(result),
    reason,
  })
  const what = fault(rejected ? 'provider_credential_rejected' : 'provider_quota_exhausted')
  const next = hasMore(judging, result) ? 'credential' : 'target'
  return failed(judging.route, { fault: what, answer: null, next, retryAfterMs: null, reason }, what.code)
}

/** Whether the pool has another credential that may be tried at once. A request goes through a pool once. */
function hasMore({ gateway, exchange }: Judge, result: Result): boolean {
  if (result.pinned) return false
  const size = poolSize(result)
  const tried = exchange.attempts.filter(({ provider }) => provider === result.provider.row.name).length
  if (tried >= size) return false
  const { state } = gateway.health.view(result.provider.row.slot, Date.now(), size)
  return size > 1 && state !== 'failing' && state !== 'resting'
}

function poolSize(result: Result): number {
  return Math.max(1, result.provider.credentials.length)
}

function credentialId(result: Result): string | null {
  return result.provider.row.credentials[result.credentialIndex]?.id ?? null
}

function failed(
  route: SnapshotRoute | null,
  failure: Omit<Failure<Answer>, 'fallback'>,
  condition: string,
): Sent<Answer> {
  const conditions = route?.fallbackOn ?? []
  return {
    kind: 'failed',
    failure: { ...failure, fallback: conditions.length === 0 || conditions.includes(condition) },
  }
}

/** A target that could not even be tried. */
export function notReady(candidate: Candidate, reason: string): Sent<Answer> {
  const what = fault(
    'provider_not_ready',
    `Provider ${candidate.provider.name} cannot serve now: ${reason}. Try again later.`,
  )
  return {
    kind: 'failed',
    failure: { fault: what, answer: null, next: 'target', fallback: true, retryAfterMs: null, reason },
  }
}

function answerOf(result: Result, gated: Answer['gated'], error: Answer['error']): Answer {
  const { call, attempt, provider, credentialIndex } = result
  return { call, attempt, gated, error, provider, credentialIndex, clean: (bytes) => clean(result, bytes) }
}

function clean({ provider, secret }: Result, bytes: Buffer): Buffer {
  const scrubbed = provider.kind.scrub(bytes)
  // Latin-1 keeps every byte through the round trip.
  const text = scrubbed.toString('latin1')
  const masked = secret === null ? text : hideInText(text, secret)
  return masked === text ? scrubbed : Buffer.from(masked, 'latin1')
}

function answerHead(head: Head): AnswerHead {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < head.headers.length; index += 2)
    headers.set(head.headers[index]!, head.headers[index + 1]!)
  return { status: head.status, headers }
}
