import { type Fault, fault } from '../../core/errors.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { describeTranslation } from '../../routing/candidates.ts'
import type { CallContent } from '../content/call-content.ts'
import { callLocation, recordObjects, recordStartedCall, recordUnread } from '../objects/created-objects.ts'
import { UrlStage } from '../objects/url-stage.ts'
import type { Affinity, Call } from '../request/call.ts'
import { ClientSecretStage } from '../sockets/client-secrets.ts'
import { uploadHeaders } from '../upload/upload-url.ts'
import type { Head } from '../upstream/answer-consumer.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { findHeader, headersDown, withoutRateLimits } from '../upstream/headers.ts'
import { type Leg, type LegTranslation, noteAnswered } from '../upstream/leg.ts'
import { ByteFlow } from './byte-flow.ts'
import { chargeBeside, usedByWhole } from './charge.ts'
import { EchoModelStage } from './echo-model-stage.ts'
import { EventFlow } from './event-flow.ts'
import { reject, type Used } from './respond.ts'
import { settle } from './settle.ts'
import type { AnswerStage } from './stage.ts'

const contentStage = loadOnce(() => import('../content/content-stage.ts'))

/** Passes the answer to the client with back-pressure. Its last byte waits until the settled entry is in the journal. */
export function relay(call: Call, answer: Answer, retryAfterMs: number | null): Promise<void> {
  const { arrival, trace } = call
  const { gated } = answer
  trace.firstByteMs = answer.attempt.first_byte_ms
  arrival.capture?.answerHead(gated.head.headers)
  if (answer.leg.translation !== null) noteTranslation(call, answer.leg, answer.leg.translation)
  if (gated.kind === 'error' || gated.kind === 'whole') arrival.reply.keepAlive?.stop()
  if (gated.kind === 'error') return passError(call, answer, retryAfterMs)
  const stages = stagesFor(answer)
  const { content } = call
  return content?.readsAnswer === true ? passRead(call, answer, content, stages) : pass(call, answer, stages)
}

/** Records the translation of the winning attempt, and what it lost, for the header `x-sp-lossy`. */
function noteTranslation({ arrival, trace }: Call, { provider, candidate }: Leg, translation: LegTranslation): void {
  const { from, to, lossHeader } = translation
  arrival.lossHeader = lossHeader
  trace.translation = translation
  const data = { from, to, provider: provider.row.name }
  const what = describeTranslation(candidate.translated ?? { from, to })
  const text = `T${what.slice(1)} for ${provider.row.name}.`
  trace.routingSignals.push({ rule: 'translation', verdict: 'note', text, data })
}

/** Content rules are the last stage, so that nothing bypasses them. */
async function passRead(
  call: Call,
  answer: Answer,
  content: CallContent,
  stages: readonly AnswerStage[],
): Promise<void> {
  const { ContentStage } = await contentStage()
  await pass(call, answer, [...stages, new ContentStage(answer.leg, content)])
}

function pass(call: Call, answer: Answer, stages: readonly AnswerStage[]): Promise<void> {
  const { arrival, trace, match } = call
  const { gated } = answer
  if (gated.kind === 'whole') return passWhole(call, answer, gated.body, stages)
  const rejected = gated.kind === 'flow' ? checkFlow(call, stages) : null
  if (rejected !== null) return giveUp(call, answer, rejected)
  if (arrival.request.method === 'HEAD') return passHead(call, answer)
  // Only the answer to a form says whether it streams.
  if (gated.kind === 'stream' && !call.inspection.streamed)
    call.learn({ streamed: true, framing: match.endpoint.stream })
  if (gated.kind === 'flow' && match.endpoint.object !== null) recordUnread(answer)
  trace.mark('content')
  const headers = gated.kind === 'stream' ? streamHeaders(gated.head) : flowHeaders(gated.head)
  writeHead(call, gated.head, headers)
  return new Promise((resolve) => {
    const flow =
      gated.kind === 'stream'
        ? new EventFlow(answer, streamStages(answer, stages), resolve)
        : new ByteFlow(answer, resolve)
    flow.begin()
  })
}

const noStages: readonly AnswerStage[] = []

/** Nearly every answer passes unchanged, without stages. */
function stagesFor({ leg }: Answer): readonly AnswerStage[] {
  const { route, call } = leg
  const { model } = call.inspection
  const own = stagesOfRow(leg)
  const stages = route?.echoModel === true && model !== null ? [...own, new EchoModelStage(leg, model)] : own
  return call.affinity === null ? stages : withAffinity(leg, call.affinity, stages)
}

/** Runs after all other stages, since it must see what the client will send back. */
function withAffinity(
  { candidate, credentialIndex: credential }: Leg,
  affinity: Affinity,
  stages: readonly AnswerStage[],
): readonly AnswerStage[] {
  const { watched, upstreamModel } = candidate
  const reader = affinity.answered({ slot: watched.slot, model: upstreamModel, credential })
  return reader === null ? stages : [...stages, reader]
}

/** A translated stream is translated first; the other stages see the client's format. */
function streamStages({ leg }: Answer, stages: readonly AnswerStage[]): readonly AnswerStage[] {
  return leg.translation === null ? stages : [leg.translation.stage(leg, stages)]
}

function stagesOfRow(leg: Leg): readonly AnswerStage[] {
  const { match, translation } = leg
  if (translation !== null) return noStages
  const { issuesClientToken } = match.endpoint
  if (issuesClientToken !== undefined) return [new ClientSecretStage(leg, issuesClientToken)]
  return match.endpoint.answersHoldUrls ? [new UrlStage(leg)] : noStages
}

/** Why an answer must be rejected rather than passed on unread; null: it may pass. */
function checkFlow({ arrival }: Call, stages: readonly AnswerStage[]): Fault | null {
  if (arrival.reply.opened) return streamPromised
  return stages.find(({ faultIfUnread }) => faultIfUnread !== null)?.faultIfUnread ?? null
}

/** The head of a stream was sent already: a client cannot read a document in its place. */
const streamPromised = fault('provider_bad_response', 'The provider answered a streamed call with a whole document.')

function giveUp({ arrival }: Call, answer: Answer, reason: Fault, used?: Used): Promise<void> {
  answer.upstream.abort()
  return reject(arrival, reason, used)
}

/** For a HEAD request the body of a flow is not fetched. */
async function passHead(call: Call, answer: Answer): Promise<void> {
  const { head } = answer.gated
  answer.upstream.abort()
  call.trace.mark('last_byte')
  await settle(call.arrival, { status: head.status, error: null, tokens: null })
  if (call.abort.disconnected) return
  writeHead(call, head, flowHeaders(head))
  call.arrival.response.end()
}

function writeHead(
  { arrival, abort }: Call,
  head: Head,
  more: readonly string[],
  retryAfterMs: number | null = null,
): void {
  if (arrival.reply.opened || abort.disconnected) return
  const passed = headersDown(head.headers, retryAfterMs)
  const headers = arrival.limits === null ? passed : withoutRateLimits(passed)
  arrival.response.writeHead(head.status, [...headers, ...arrival.ownHeaders(), ...more])
}

/** Tells caches and proxies not to hold events back (wire/streaming.md section 0). */
function streamHeaders({ headers }: Head): string[] {
  const wanted = [
    ['cache-control', 'no-cache'],
    ['x-accel-buffering', 'no'],
  ] as const
  return wanted.filter(([name]) => findHeader(headers, name) === null).flat()
}

/** Bytes that flow pass unchanged, so the provider's content-length is right. */
function flowHeaders({ headers }: Head): string[] {
  const length = findHeader(headers, 'content-length')
  return length === null ? [] : ['content-length', length]
}

async function passWhole(call: Call, answer: Answer, received: Buffer, stages: readonly AnswerStage[]): Promise<void> {
  const { arrival, trace, match } = call
  if (match.endpoint.readWhole === true) recordStartedCall(answer)
  else if (call.createsObjects || match.endpoint.object?.effect === 'delete') {
    const recording = recordObjects(answer, received)
    if (recording instanceof Promise) await recording
  }
  if (arrival.reply.opened) return reject(arrival, streamPromised)
  const { reader } = answer.leg
  const reported = reader.usage()
  const isWhole = reported !== null && reported.input > 0 && reported.output > 0
  const tokens = isWhole ? reported : usedByWhole(answer.leg, received)
  if (trace.isPricedByAnswer) noteAnswered(answer.leg)
  const free = reader.isFree?.() === true
  const detail = reader.usageDetail()
  const earlier = reader.beside === undefined ? answer.leg.earlier : chargeBeside(answer.leg)
  const used = { tokens, detail, free, ...(earlier !== undefined && { earlier }) }
  let body = received
  for (const stage of stages) {
    const passing = stage.whole(body)
    const passed = passing instanceof Promise ? await passing : passing
    // The provider charges for the answer all the same.
    if (!Buffer.isBuffer(passed)) return giveUp(call, answer, passed, used)
    body = passed
  }
  const { head } = answer.gated
  trace.responseBytes = arrival.request.method === 'HEAD' ? 0 : body.length
  arrival.capture?.answer(body)
  trace.mark('last_byte')
  await settle(arrival, { status: head.status, error: null, ...used })
  if (call.abort.disconnected) return
  writeHead(call, head, [...lengthOf(head, body), ...headersOfRow(call, answer)])
  if (body.length <= joinedBytes) arrival.response.end(body.toString('latin1'), 'latin1')
  else arrival.response.end(body)
}

/** Additional headers, for the answers of a few endpoints. */
function headersOfRow(call: Call, answer: Answer): readonly string[] {
  const { resumedAs, readWhole } = call.match.endpoint
  if (resumedAs !== undefined || call.pin?.once === true) return uploadHeaders(call, answer)
  return readWhole === true ? callLocation(answer) : []
}

/** A response that has no body because of its status has no length either (RFC 9110, 8.6). */
function lengthOf({ status }: Head, body: Buffer): string[] {
  return status === 204 || status === 304 ? [] : ['content-length', String(body.length)]
}

/** A body up to this size is given to Node as a string, which Node joins with the head into one write. Latin-1 keeps every byte. */
const joinedBytes = 16 * 1024

/** Passes a provider's error: status and body as they came, without account ids. */
async function passError(call: Call, answer: Answer, retryAfterMs: number | null): Promise<void> {
  const { arrival, trace } = call
  const { head } = answer.gated
  const body = await readErrorBody(call, answer)
  if (!Buffer.isBuffer(body)) {
    answer.attempt.outcome = body.code
    return reject(arrival, body)
  }
  // The client may get another in its own format.
  const said = `The provider answered ${answer.attempt.status ?? head.status}`
  if (arrival.reply.opened)
    return reject(arrival, fault('provider_bad_response', `${said} after the stream was opened.`))
  const message = `${said}.`
  const error = { code: 'provider_error', origin: 'provider', message } as const
  // A retry was planned but could not be made.
  answer.attempt.outcome = 'passed'
  trace.responseBytes = arrival.request.method === 'HEAD' ? 0 : body.length
  arrival.capture?.answer(body)
  trace.mark('last_byte')
  await settle(arrival, { status: head.status, error, tokens: null })
  if (call.abort.disconnected) return
  const more = [...lengthOf(head, body), 'x-sp-error', error.code, 'x-sp-error-origin', error.origin]
  more.push(...headersOfRow(call, answer))
  writeHead(call, head, more, retryAfterMs)
  arrival.response.end(body)
}

/** The body of an error after content rules: it may repeat what the model wrote (`failed_generation`), or the redacted prompt. */
async function readErrorBody({ content }: Call, { leg, gated, error }: Answer): Promise<Buffer | Fault> {
  const body = error?.body ?? Buffer.alloc(0)
  if (content?.readsAnswer !== true || body.length === 0) return body
  const isPlain = (findHeader(gated.head.headers, 'content-encoding') ?? 'identity') === 'identity'
  return (await import('../content/read-error.ts')).readError(leg, content, body, isPlain)
}
