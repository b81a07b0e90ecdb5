import { type Fault, fault } from '../core/errors.ts'
import type { TimeLimits } from '../core/lane.ts'
import type { AttemptRecord } from '../core/record.ts'
import type { Secret } from '../core/secret.ts'
import type { BodyChange } from '../lanes/contract.ts'
import { openFramer } from '../lanes/framer.ts'
import type { AnswerHead, Meaning } from '../providers/contract.ts'
import type { Failure, Sent } from '../routing/attempt.ts'
import type { Entry } from '../routing/health.ts'
import type { Candidate } from '../routing/plan.ts'
import type { SnapshotRoute } from '../store/snapshot.ts'
import { Call, type Gated, type Head } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { findHeader, headersUp } from './headers.ts'
import { startHeartbeat } from './heartbeat.ts'
import type { LiveProvider } from './read-model.ts'

/** What goes to the client: content that has begun, a whole answer, or a provider's own error that passes. */
export interface Answer {
  call: Call
  gated: Extract<Gated, { head: Head }>
  attempt: AttemptRecord
  /** The provider's error body with account ids taken out; null for answers. */
  error: { body: Buffer } | null
}

/** One exchange's way of sending to a candidate; `stop` ends the heartbeat that may run meanwhile. */
export function sender(gateway: Gateway, exchange: Exchange, route: SnapshotRoute | null) {
  const stop = startHeartbeat(gateway, exchange)
  const send = (candidate: Candidate) => sendTo(gateway, exchange, route, candidate)
  return { send, stop }
}

async function sendTo(gateway: Gateway, exchange: Exchange, route: SnapshotRoute | null, candidate: Candidate): Promise<Sent<Answer>> {
  if (exchange.gone) return { kind: 'gone' }
  const provider = gateway.model.configuration.providers.get(candidate.provider.id)
  if (provider === undefined) return notReady(candidate, 'the provider was removed')
  const picked = pickCredential(gateway, provider)
  if (picked === null) return notReady(candidate, 'all its credentials are resting')
  const entry = gateway.health.enter(provider.row.slot, Date.now())
  if (entry === null) return notReady(candidate, 'it has been failing and is probed by another request')
  const attempt = beginAttempt(exchange, candidate)
  const call = startCall(gateway, exchange, route, candidate, provider, picked.credential)
  exchange.onGone = () => call.abort()
  const gated = await call.gate
  exchange.onGone = null
  noteTimes(exchange, attempt, call)
  const judged = judge(gateway, exchange, route, { attempt, provider, picked, entry, call, gated })
  attempt.outcome = outcomeOf(judged)
  if (judged.kind === 'failed') attempt.message = judged.failure.reason
  if ('head' in gated) attempt.status = gated.head.status
  return judged
}

interface Picked {
  index: number
  credential: Secret | null
}

function pickCredential(gateway: Gateway, provider: LiveProvider): Picked | null {
  const count = provider.credentials.length
  if (count === 0) return { index: 0, credential: null }
  const index = gateway.health.pickCredential(provider.row.slot, count, Date.now())
  return index === null ? null : { index, credential: provider.credentials[index] ?? null }
}

function startCall(
  gateway: Gateway,
  exchange: Exchange,
  route: SnapshotRoute | null,
  candidate: Candidate,
  provider: LiveProvider,
  credential: Secret | null,
): Call {
  const lane = exchange.lane!
  const match = exchange.match!
  const inspection = exchange.inspection!
  const { kind, row } = provider
  const limits = effectiveLimits(gateway.settings.timeouts, provider.row.timeouts, route?.timeouts)
  const change: BodyChange = {
    renameTo: inspection.model !== null && candidate.upstreamModel !== inspection.model ? candidate.upstreamModel : null,
    askForUsage: inspection.usageSplice !== null && !kind.lacks(row).includes('stream_options'),
  }
  const { origin, path } = kind.address(row, lane.name, lane.upstreamPath(match, inspection, candidate.upstreamModel))
  const own = [...kind.headers(row, lane.name, credential), ...Object.entries(row.headers)]
  const reader = lane.reader(match, inspection, change)
  const call = new Call({
    deadlines: gateway.deadlines,
    limits,
    totalAt: exchange.started + limits.total,
    streamed: inspection.streamed,
    streamType: inspection.framing === 'json-array' ? 'application/json' : 'text/event-stream',
    reader,
    framer: inspection.framing === null ? null : openFramer(inspection.framing),
  })
  const body = match.endpoint.method === 'GET' ? null : lane.splice(exchange.body, inspection, change)
  const headers = headersUp(exchange.request.rawHeaders, exchange.presented, own, kind.defaults ?? [])
  const transport = kind.transport ?? gateway.transport
  call.begin(transport.send({ method: match.endpoint.method, origin, path, headers, body, connectMs: limits.connect }, call))
  exchange.provider = row.name
  exchange.upstreamModel = candidate.upstreamModel
  return call
}

function effectiveLimits(base: TimeLimits, ...layers: (Partial<TimeLimits> | undefined)[]): TimeLimits {
  return Object.assign({}, base, ...layers)
}

interface Result {
  attempt: AttemptRecord
  provider: LiveProvider
  picked: Picked
  entry: Entry
  call: Call
  gated: Gated
}

function judge(gateway: Gateway, exchange: Exchange, route: SnapshotRoute | null, result: Result): Sent<Answer> {
  const { gated, entry } = result
  const { slot } = result.provider.row
  switch (gated.kind) {
    case 'aborted':
      gateway.health.abandon(slot, entry)
      return { kind: 'gone' }
    case 'failed': {
      gateway.health.recordFailure(slot, entry, Date.now())
      // A provider that used up its time once would use it up again: the next target is the better bet.
      const next = gated.fault.code === 'provider_timeout' ? 'target' : 'retry'
      return failed(route, { fault: gated.fault, answer: null, next, retryAfterMs: null, reason: gated.fault.message }, gated.fault.code)
    }
    case 'error-event': {
      if (isCallers(gated.error.status)) {
        gateway.health.recordSuccess(slot, entry, Date.now())
        return { kind: 'answered', answer: answerOf(result, { kind: 'stream', head: gated.head }, null) }
      }
      gateway.health.recordFailure(slot, entry, Date.now())
      result.call.abort()
      const reason = fault('provider_bad_response', `The provider ended its stream with an error before any content: ${gated.error.message}`)
      return failed(route, { fault: reason, answer: null, next: 'retry', retryAfterMs: null, reason: gated.error.message }, reason.code)
    }
    case 'error':
      return judgeError(gateway, exchange, route, result, gated)
    default:
      gateway.health.recordSuccess(slot, entry, Date.now())
      return { kind: 'answered', answer: answerOf(result, gated, null) }
  }
}

/** Whether an error event says that the request itself is wrong, so that nobody else would answer it otherwise. */
function isCallers(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && ![401, 402, 408, 409, 425, 429].includes(status)
}

function judgeError(
  gateway: Gateway,
  exchange: Exchange,
  route: SnapshotRoute | null,
  result: Result,
  gated: Extract<Gated, { kind: 'error' }>,
): Sent<Answer> {
  const { kind, row } = result.provider
  const meaning = kind.classify(exchange.lane!.name, answerHead(gated.head), gated.body)
  const answer = answerOf(result, gated, { body: kind.scrub(gated.body) })
  const status = gated.head.status
  if (meaning.verdict === 'credential-rejected' || meaning.verdict === 'quota-exhausted') {
    return restCredential(gateway, route, result, meaning, status)
  }
  if (meaning.verdict === 'retry') {
    gateway.health.recordFailure(row.slot, result.entry, Date.now())
    const reason = `answered ${status}${meaning.retryAfterMs === null ? '' : ` and asked to wait ${Math.ceil(meaning.retryAfterMs / 1000)} s`}`
    const failure = { fault: fault('provider_bad_response'), answer, next: 'retry', retryAfterMs: meaning.retryAfterMs, reason } as const
    return failed(route, failure, String(status))
  }
  if (meaning.verdict === 'credential-doubtful') {
    gateway.report({ type: 'credential-doubtful', providerId: row.id, credentialId: credentialId(result) })
  }
  gateway.health.recordSuccess(row.slot, result.entry, Date.now())
  if (route?.fallbackOn.includes(String(status))) {
    const reason = `answered ${status}, on which this route falls back`
    return failed(route, { fault: fault('provider_bad_response'), answer, next: 'target', retryAfterMs: null, reason }, String(status))
  }
  return { kind: 'answered', answer }
}

/** How long an account without quota rests before traffic tries it again; the check may end it sooner. */
const quotaRestMs = 60_000

function restCredential(gateway: Gateway, route: SnapshotRoute | null, result: Result, meaning: Meaning, status: number): Sent<Answer> {
  const { health } = gateway
  const { slot, id } = result.provider.row
  const count = Math.max(1, result.provider.credentials.length)
  const now = Date.now()
  const rejected = meaning.verdict === 'credential-rejected'
  const reason = rejected ? `the provider refused the stored credential (${status})` : `the provider's account is out of quota (${status})`
  health.abandon(slot, result.entry)
  if (rejected) health.rejectCredential(slot, result.picked.index, count, now)
  else health.restCredential(slot, result.picked.index, now + quotaRestMs)
  gateway.report({ type: rejected ? 'credential-rejected' : 'quota-exhausted', providerId: id, credentialId: credentialId(result), reason })
  const what = fault(rejected ? 'provider_credential_rejected' : 'provider_quota_exhausted')
  const { state } = health.view(slot, now, count)
  const more = count > 1 && state !== 'failing' && state !== 'resting'
  return failed(route, { fault: what, answer: null, next: more ? 'credential' : 'target', retryAfterMs: null, reason }, what.code)
}

function credentialId(result: Result): string | null {
  return result.provider.row.credentials[result.picked.index]?.id ?? null
}

function failed(route: SnapshotRoute | null, failure: Omit<Failure<Answer>, 'fallback'>, condition: string): Sent<Answer> {
  const conditions = route?.fallbackOn ?? []
  return { kind: 'failed', failure: { ...failure, fallback: conditions.length === 0 || conditions.includes(condition) } }
}

function notReady(candidate: Candidate, reason: string): Sent<Answer> {
  const what: Fault = fault('provider_not_ready', `Provider ${candidate.provider.name} cannot serve now: ${reason}. Try again later.`)
  return { kind: 'failed', failure: { fault: what, answer: null, next: 'target', fallback: true, retryAfterMs: null, reason } }
}

function answerOf(result: Result, gated: Answer['gated'], error: Answer['error']): Answer {
  return { call: result.call, attempt: result.attempt, gated, error }
}

function answerHead(head: Head): AnswerHead {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < head.headers.length; index += 2) headers.set(head.headers[index]!, head.headers[index + 1]!)
  return { status: head.status, headers }
}

function beginAttempt(exchange: Exchange, candidate: Candidate): AttemptRecord {
  const attempt: AttemptRecord = {
    provider: candidate.provider.name,
    upstream_model: candidate.upstreamModel,
    status: null,
    outcome: 'started',
    started_ms: exchange.elapsed(),
    connected_ms: null,
    first_byte_ms: null,
    ended_ms: null,
    message: null,
  }
  exchange.attempts.push(attempt)
  exchange.mark('attempt')
  return attempt
}

function noteTimes(exchange: Exchange, attempt: AttemptRecord, call: Call): void {
  const since = (at: number | null) => (at === null ? null : Math.round((at - exchange.started) * 1000) / 1000)
  attempt.connected_ms = since(call.times.connected)
  attempt.first_byte_ms = since(call.times.firstByte)
  attempt.ended_ms = exchange.elapsed()
}

function outcomeOf(sent: Sent<Answer>): string {
  if (sent.kind === 'gone') return 'aborted'
  if (sent.kind === 'answered') return sent.answer.error === null ? 'answered' : 'passed'
  return sent.failure.answer === null ? sent.failure.fault.code : sent.failure.next === 'retry' ? 'retry' : 'fallback'
}

/** The provider's own id for the call, which its support asks for. */
export function providerRequestId(head: Head): string | null {
  return findHeader(head.headers, 'x-request-id') ?? findHeader(head.headers, 'request-id')
}
