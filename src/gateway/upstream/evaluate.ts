import { type Fault, fault } from '../../core/errors.ts'
import type { AttemptRecord } from '../../core/record.ts'
import { hideInHeaders } from '../../core/secrets/secret.ts'
import { quote } from '../../core/text/quote.ts'
import type { StreamedError } from '../../lanes/contract.ts'
import { isFiltered } from '../../lanes/filtered-answer.ts'
import type { AnswerHead, TransportFault } from '../../providers/contract.ts'
import { readRejectedContent } from '../../providers/wire/rejected-content.ts'
import { readError, readErrorBody } from '../../providers/wire/status.ts'
import type { Failure, Sent } from '../../routing/attempt.ts'
import { failureCause } from '../../routing/failure-cause.ts'
import type { CallOutcome } from '../../routing/health.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Gated, Head } from './answer-consumer.ts'
import { hideAccount, type Leg, type Passing } from './leg.ts'
import type { UpstreamCall } from './upstream-call.ts'

/** What goes to the client: content that has begun, a whole answer, or a provider's own error that passes. */
export interface Answer {
  leg: Leg
  upstream: UpstreamCall
  gated: Passing
  attempt: AttemptRecord
  /** The provider's error body, cleaned; null for answers. */
  error: { body: Buffer } | null
}

/** An upstream call whose commit gate has resolved. */
export interface GatedAttempt {
  leg: Leg
  upstream: UpstreamCall
  attempt: AttemptRecord
  gated: Gated
}

/** What an outcome means: what to do next, and what it says about the provider. `applyEvaluation` acts on it. */
export interface AttemptEvaluation {
  sent: Sent<Answer>
  health: CallOutcome
  credential?: CredentialOutcome
}

/** What an outcome says about the credential that was used. */
export type CredentialOutcome =
  /** Rejected in this call; the check decides whether the credential is at fault. `alone`: a handshake proves nothing. */
  | { kind: 'suspect'; reason: string; alone: boolean }
  /** Accepted, but not allowed to do this; the check decides whether it can do anything else. */
  | { kind: 'doubtful' }
  | { kind: 'exhausted'; reason: string }
  /** It reached a limit of the model; null: the provider did not say for how long. */
  | { kind: 'limited'; retryAfterMs: number | null }
  | { kind: 'accepted' }

/** The answer came; nothing went wrong. */
const healthyOutcome: CallOutcome = { provider: 'success', target: 'success', cause: 0 }
/** The provider answered, but its answer concerns only this call: it says nothing about the target. */
const callersOutcome: CallOutcome = { provider: 'success', target: 'neutral', cause: 0 }
/** The client or the gateway ended the call: it says nothing about the provider. */
const unknownOutcome: CallOutcome = { provider: 'neutral', target: 'neutral', cause: 0 }

function failing(cause: number, provider: CallOutcome['provider']): CallOutcome {
  return { provider, target: 'failure', cause }
}

export function evaluate(outcome: GatedAttempt): AttemptEvaluation {
  const gated = withoutCredential(outcome)
  switch (gated.kind) {
    case 'aborted':
      return { sent: { kind: 'gone' }, health: unknownOutcome }
    case 'failed':
      return evaluateFault(outcome.leg, gated)
    case 'error-event':
      return evaluateErrorEvent(outcome, gated)
    case 'error':
      return evaluateError(outcome, gated)
    default:
      return accept(evaluatePassing(outcome, gated))
  }
}

function accept({ sent, health }: AttemptEvaluation): AttemptEvaluation {
  return { sent, health, credential: accepted }
}

const accepted: CredentialOutcome = { kind: 'accepted' }

/** An answer that cannot be translated for the client counts as a failure. */
function evaluatePassing(outcome: GatedAttempt, gated: Passing): AttemptEvaluation {
  const { leg, upstream } = outcome
  if (leg.translation === null) return evaluateAnswer(outcome, gated, gated)
  const translated = leg.translation.answer(leg, gated)
  if (!('code' in translated)) return evaluateAnswer(outcome, gated, translated)
  upstream.abort()
  return evaluateFault(leg, { kind: 'failed', fault: translated, transport: null })
}

/** An answer goes to the client. The exception: the provider's content filter ended it, and the route falls back on that. */
function evaluateAnswer(outcome: GatedAttempt, gated: Passing, shown: Passing): AttemptEvaluation {
  const passed = goesToClient(outcome, shown, healthyOutcome)
  if (passed.sent.kind !== 'answered' || !outcome.leg.route?.fallbackOn.includes('content_filter')) return passed
  if (!holdsFiltered(gated)) return passed
  return {
    ...fallBack(outcome.leg, passed.sent.answer, 'content_filter', "was ended by the provider's content filter"),
    health: healthyOutcome,
  }
}

/** Only what the commit gate still holds: after that, a stream cannot be taken back. */
function holdsFiltered(gated: Answer['gated']): boolean {
  if (gated.kind === 'whole') return isFiltered(gated.body)
  return gated.kind === 'stream' && gated.held.some(([{ data }]) => isFiltered(data))
}

const leftOut = "Headers of the answer held the provider's credential and were left out"

/** A provider may repeat what it was sent: headers that contain the credential are removed. */
function withoutCredential({ gated, leg }: GatedAttempt): Gated {
  if (!('head' in gated)) return gated
  const note = (names: string[]) => leg.call.trace.note('credential', `${leftOut}: ${names.join(', ')}.`)
  let { headers } = gated.head
  if (leg.credential !== null) headers = hideInHeaders(headers, leg.credential, note)
  for (const secret of leg.provider.secrets) headers = hideInHeaders(headers, secret, note)
  return headers === gated.head.headers ? gated : { ...gated, head: { ...gated.head, headers } }
}

function goesToClient(
  outcome: GatedAttempt,
  gated: Answer['gated'],
  health: CallOutcome,
  error: Answer['error'] = null,
): AttemptEvaluation {
  const { leg, upstream, attempt } = outcome
  return { sent: { kind: 'answered', answer: { leg, upstream, attempt, gated, error } }, health }
}

function evaluateFault(leg: Leg, { fault: reason, transport }: Extract<Gated, { kind: 'failed' }>): AttemptEvaluation {
  const next = elsewhere.has(reason.code) ? 'target' : 'retry'
  const failure = { fault: reason, answer: null, next, retryAfterMs: null, reason: reason.message } as const
  // A shortage in the gateway says nothing about the provider; another target may have an open connection.
  if (reason.code === 'overloaded')
    return { sent: { kind: 'failed', failure: { ...failure, fallback: true } }, health: unknownOutcome }
  return { sent: failed(leg, failure, reason.code), health: healthOfFault(leg, reason, transport) }
}

/** What would probably happen here again: the next target is tried. */
const elsewhere: ReadonlySet<string> = new Set(['provider_timeout', 'overloaded', 'policy_denied'])

/** A connection error counts against the provider, an error in its answer against the model. */
export function healthOfFault(leg: Leg, reason: Fault, transport: TransportFault['kind'] | null): CallOutcome {
  const { code, ofModel } = reason
  if (ofModel === true || transport === 'denied') return callersOutcome
  const cut = transport === 'reset' || transport === 'protocol'
  // A provider may rightly close a connection on which the client has stopped sending.
  if (cut) return isUnsent(leg) ? unknownOutcome : failing(failureCause.cut, 'failure')
  if (transport !== null) return failing(failureCause.unreachable, 'failure')
  if (code === 'provider_timeout') return failing(failureCause.timeout, 'neutral')
  return failing(failureCause.malformed, 'success')
}

/** The client has not sent all of its upload, so the call may have ended because of the client. */
function isUnsent({ call }: Leg): boolean {
  return call.body.upload !== null && !call.body.upload.complete
}

function evaluateErrorEvent(outcome: GatedAttempt, gated: Extract<Gated, { kind: 'error-event' }>): AttemptEvaluation {
  const { leg, upstream } = outcome
  const { status, message } = gated.error
  if (meansExhausted(leg, gated.error)) {
    upstream.abort()
    return exhaust(leg, 'in its stream')
  }
  if (isCallersError(status) && leg.translation === null)
    return goesToClient(outcome, { kind: 'stream', head: gated.head, held: [] }, callersOutcome)
  upstream.abort()
  if (isCallersError(status)) return evaluateCallersEvent(outcome, gated.error)
  const cleaned = hideAccount(leg, Buffer.from(message)).toString()
  const reason = fault(
    'provider_bad_response',
    `The provider ended its stream with an error before any content: ${cleaned}`,
  )
  const failure = { fault: reason, answer: null, next: 'retry', retryAfterMs: null, reason: cleaned } as const
  const sent = failed(leg, failure, reason.code)
  if (status === 429) return { sent, health: healthyOutcome, credential: { kind: 'limited', retryAfterMs: null } }
  return { sent, health: healthOfEvent(status) }
}

/** In another format the event becomes an error with the status that it would have had before the stream began. */
function evaluateCallersEvent(outcome: GatedAttempt, { status, written }: StreamedError): AttemptEvaluation {
  const body = Buffer.from(JSON.stringify({ error: written }))
  const shown = inClientsFormat(outcome.leg, { kind: 'error', head: { status: status ?? 400, headers: [] }, body })
  return goesToClient(outcome, shown, callersOutcome, { body: shown.body })
}

type GatedError = Extract<Gated, { kind: 'error' }>

function inClientsFormat(leg: Leg, gated: GatedError, retryAfterMs: number | null = null): GatedError {
  return leg.translation === null ? gated : leg.translation.error(leg, gated.head.status, gated.body, retryAfterMs)
}

/** What an error event in a stream says about the provider, before the first content or after it. */
export function healthOfEvent(status: number | null): CallOutcome {
  const isCallers = isCallersError(status) || status === 429
  return isCallers ? callersOutcome : failing(status ?? failureCause.malformed, 'success')
}

const noHeaders: AnswerHead['headers'] = new Map()

/** Classifies the error as if it had come with its status, before the stream began. One without a status may still concern the account. */
function meansExhausted({ provider }: Leg, { status, written }: StreamedError): boolean {
  const head = { status: status ?? 429, headers: noHeaders }
  const meaning = provider.kind.classify(head, readError(written), provider.row.settings)
  return meaning.verdict === 'quota-exhausted'
}

/** The fault that ends an answer if the provider paused in it and did not deliver the rest. */
export function restFailed(
  leg: Leg,
  gated: Exclude<Gated, { kind: 'stream' }>,
): { reason: Fault; health: CallOutcome } {
  if (gated.kind === 'failed') return { reason: gated.fault, health: healthOfFault(leg, gated.fault, gated.transport) }
  const [status, words] = describeRefusal(leg, gated)
  const what = [status ?? '', words].filter((text) => text !== '').join(': ')
  const text = `The provider paused in the middle of its answer, and failed when it was asked for the rest${what === '' ? '' : ` (${what})`}. Try again.`
  return { reason: fault('provider_bad_response', text), health: healthOfEvent(status) }
}

function describeRefusal(leg: Leg, gated: Gated): [status: number | null, words: string] {
  if (gated.kind === 'error') return [gated.head.status, wordsOf(leg, gated.body)]
  if (gated.kind === 'error-event')
    return [gated.error.status, hideAccount(leg, Buffer.from(gated.error.message)).toString()]
  return [null, '']
}

/** Whether an error event says that the request itself is wrong, so that every other provider would reject it too. */
function isCallersError(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && ![401, 402, 408, 409, 425, 429].includes(status)
}

function evaluateError(outcome: GatedAttempt, gated: GatedError): AttemptEvaluation {
  const { leg } = outcome
  const { status } = gated.head
  const meaning = leg.provider.kind.classify(
    answerHead(gated.head),
    readErrorBody(gated.body),
    leg.provider.row.settings,
  )
  if (meaning.verdict === 'quota-exhausted') return exhaust(leg, String(status))
  if (meaning.verdict === 'credential-rejected')
    return leg.call.clientSecret === null ? evaluateRejectedCredential(leg, gated) : endOfClientSecret(leg)
  const shown = inClientsFormat(leg, gated, meaning.verdict === 'retry' ? meaning.retryAfterMs : null)
  const passed = goesToClient(outcome, shown, callersOutcome, { body: hideAccount(leg, shown.body) })
  if (passed.sent.kind !== 'answered') return passed
  const { answer } = passed.sent
  if (meaning.verdict === 'retry') return evaluateRetry(leg, answer, status, meaning.retryAfterMs)
  const condition = conditionOf(leg, gated)
  const evaluation = condition === null ? passed : fallBack(leg, answer, condition, describeCondition(condition))
  // At an object's own endpoint the status only means that the caller may not see the object.
  if (meaning.verdict !== 'credential-doubtful' || leg.match.object !== null) return evaluation
  return { ...evaluation, credential: { kind: 'doubtful' } }
}

/** The condition of the route on which it falls back, of those that concern the caller's own errors; null: none. */
function conditionOf({ route }: Leg, { head, body }: GatedError): string | null {
  const conditions = route?.fallbackOn ?? []
  if (conditions.length === 0) return null
  if (conditions.includes(String(head.status))) return String(head.status)
  const content = readRejectedContent(head.status, body)
  return content !== null && conditions.includes(content) ? content : null
}

function describeCondition(condition: string): string {
  if (condition === 'content_filter') return "was rejected by the provider's content filter"
  if (condition === 'context_length') return 'found the request too long for the model'
  return `answered ${condition}, on which this route falls back`
}

function fallBack(leg: Leg, answer: Answer, condition: string, reason: string): AttemptEvaluation {
  const failure = { fault: fault('provider_bad_response'), answer, next: 'target', retryAfterMs: null, reason } as const
  return { sent: failed(leg, failure, condition), health: callersOutcome }
}

/** The credential was the client's own and temporary: the stored one is not at fault. */
function endOfClientSecret(leg: Leg): AttemptEvaluation {
  const what = fault('invalid_key', 'The provider no longer accepts this credential for clients. Ask for a new one.')
  return { sent: failedTarget(leg, what, what.message), health: callersOutcome }
}

function evaluateRetry(leg: Leg, answer: Answer, status: number, retryAfterMs: number | null): AttemptEvaluation {
  const wait = retryAfterMs === null ? '' : ` and asked to wait ${Math.ceil(retryAfterMs / 1000)} s`
  const reason = `answered ${status}${wait}`
  const failure = { fault: fault('provider_bad_response'), answer, next: 'retry', retryAfterMs, reason } as const
  const sent = failed(leg, failure, String(status))
  // A provider that enforces its limits is healthy; only this credential is used up.
  if (status === 429) return { sent, health: healthyOutcome, credential: { kind: 'limited', retryAfterMs } }
  return { sent, health: isUnsent(leg) ? unknownOutcome : failing(status, 'success') }
}

function exhaust(leg: Leg, where: string): AttemptEvaluation {
  const reason = `the provider's account is out of quota (${where})`
  const what = fault('provider_quota_exhausted')
  const credential: CredentialOutcome = { kind: 'exhausted', reason }
  return { sent: failedTarget(leg, what, reason), health: callersOutcome, credential }
}

function evaluateRejectedCredential(leg: Leg, { head, body }: GatedError): AttemptEvaluation {
  const reason = `the provider refused the stored credential (${head.status})`
  const words = wordsOf(leg, body)
  const what = fault(
    'provider_credential_rejected',
    `The provider refused this call's credential (${head.status})${words === '' ? '' : `: ${words}`}. Ask the operator: the credential may lack a permission, or must be replaced.`,
  )
  const alone = leg.call.transport !== leg.call.gateway.transport
  const credential: CredentialOutcome = { kind: 'suspect', reason, alone }
  return { sent: failedTarget(leg, what, reason), health: callersOutcome, credential }
}

const quotedLength = 300

/** The provider's message on one line, without account ids and the credential. */
function wordsOf(leg: Leg, body: Buffer): string {
  const { message } = readErrorBody(body)
  const text = hideAccount(leg, Buffer.from(message)).toString().replace(/\s+/g, ' ').trim()
  if (text === '') return ''
  return quote(text.length > quotedLength ? `${text.slice(0, quotedLength)}…` : text)
}

function failed({ route }: Leg, failure: Omit<Failure<Answer>, 'fallback'>, condition: string): Sent<Answer> {
  const conditions = route?.fallbackOn ?? []
  const fallback = conditions.length === 0 || conditions.includes(condition) || conditions.includes('default')
  return { kind: 'failed', failure: { ...failure, fallback } }
}

/** The account or the credential cannot serve this call, whatever is sent: no retry would help. */
function failedTarget(leg: Leg, what: Fault, reason: string): Sent<Answer> {
  return failed(leg, { fault: what, answer: null, next: 'target', retryAfterMs: null, reason }, what.code)
}

/** A target that was not called: the next one is tried, whatever the route falls back on. */
function notCalled(
  what: Fault,
  reason: string,
  more: Partial<Pick<Failure<Answer>, 'uncalled' | 'retryAfterMs'>> = {},
): Sent<Answer> {
  const failure = { fault: what, answer: null, next: 'target', retryAfterMs: null, reason, fallback: true } as const
  return { kind: 'failed', failure: { ...failure, ...more } }
}

/** A target that could not be tried at all. */
export function notReady(
  candidate: Candidate,
  reason: string,
  origin: 'provider' | 'gateway' = 'gateway',
): Sent<Answer> {
  const what = fault(
    'provider_not_ready',
    `Provider ${candidate.provider.name} cannot serve now: ${reason}. Try again later.`,
    { origin },
  )
  return notCalled(what, reason)
}

/** The time for the whole call was over before this target could be tried: it must not be blamed for that. */
export function outOfTime(): Sent<Answer> {
  return notCalled(fault('provider_timeout'), 'the time for the whole call is over', { uncalled: 'time' })
}

/** A target into whose format this request cannot be translated. */
export function untranslatable(what: Fault): Sent<Answer> {
  return notCalled(what, what.message, { uncalled: 'format' })
}

/** The account has no room at the moment: nothing was sent, and the next target is tried. */
export function accountFull(reason: Fault): Sent<Answer> {
  return notCalled(reason, reason.message, { uncalled: 'account', retryAfterMs: reason.retryAfterMs ?? null })
}

function answerHead(head: Head): AnswerHead {
  const headers = new Map<string, string>()
  for (const [index, name] of head.headers.entries())
    if (index % 2 === 0) headers.set(name, head.headers[index + 1] ?? '')
  return { status: head.status, headers }
}
