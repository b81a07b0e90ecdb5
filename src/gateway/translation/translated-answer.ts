import { type Fault, fault } from '../../core/errors.ts'
import { asObject, type JsonObject, parseJson, parseObject } from '../../core/json/json-value.ts'
import { brokenReply } from '../../translate/broken-answer.ts'
import { readCount, writeCount } from '../../translate/counts.ts'
import { readDocument, writeDocument } from '../../translate/json.ts'
import type { ModelReply, ReplyError } from '../../translate/reply.ts'
import { textBytes, writtenBytes } from '../answer/written-tokens.ts'
import type { Call } from '../request/call.ts'
import type { Gated, Head } from '../upstream/answer-consumer.ts'
import { hideAccount, type Leg, type Passing } from '../upstream/leg.ts'
import type { AnswerTranslation } from './answer-translation.ts'
import { ReplyNames } from './reply-names.ts'

/** Without the provider's headers, which describe its account, limits and ids. */
export function clientHead({ lane, id, inspection }: Call, streamed: boolean, status = 200): Head {
  const type = streamed && inspection.framing === 'sse' ? 'text/event-stream; charset=utf-8' : 'application/json'
  const headers = ['content-type', type]
  if (lane.requestIdHeader !== null) headers.push(lane.requestIdHeader, id)
  return { status, headers }
}

/** Translates a whole answer. A stream keeps its events, which a stage translates one by one. */
export function translateWhole(translation: AnswerTranslation, leg: Leg, gated: Passing): Passing | Fault {
  if (gated.kind === 'stream') return { ...gated, head: clientHead(leg.call, true) }
  if (gated.kind !== 'whole') return unreadable
  if (leg.inspection.streamed) return notStreamed
  const document = readDocument(gated.body)
  if ('code' in document) return unreadable
  const read = translation.upstream.readReply(document.value)
  if (isFault(read)) return read
  const reply = replyNames(translation, leg).whole(read)
  if (reply.stop.reason === 'broken') return brokenFinish(reply.stop.explanation)
  for (const name of reply.dropped) translation.lose(`answer.${name}`)
  if (reply.parts.some(({ kind }) => kind === 'image')) loseImage(translation)
  translation.openRecorder(leg)?.whole(reply)
  const written = translation.client.writeReply(
    reply,
    translation.writeContext(() => leg, writtenBytes(textBytes(gated.body)), document.pieces),
  )
  return { kind: 'whole', head: clientHead(leg.call, false), body: writeDocument(written, document.pieces) }
}

/** Of the formats of clients, only Responses have a place for an image that the model made; Gemini makes it. */
export function loseImage(translation: AnswerTranslation): void {
  if (translation.client.format !== 'responses') translation.lose('answer.inlineData')
}

export function replyNames(translation: AnswerTranslation, { call, candidate }: Leg): ReplyNames {
  return new ReplyNames({ id: call.id, model: candidate.upstreamModel }, (id) => translation.hasCall(id))
}

/** Translates an answer that counts tokens. */
export function translateCount({ client, upstream }: AnswerTranslation, leg: Leg, gated: Passing): Passing | Fault {
  const answer = gated.kind === 'whole' ? parseObject(gated.body) : null
  const tokens = answer === null ? null : readCount(upstream.format, answer)
  if (tokens === null) return unreadable
  const body = Buffer.from(JSON.stringify(writeCount(client.format, tokens)))
  return { kind: 'whole', head: clientHead(leg.call, false), body }
}

function isFault(value: ModelReply | Fault): value is Fault {
  return 'code' in value
}

export function brokenFinish(explanation: string | null): Fault {
  const why = explanation === null ? '' : `: ${explanation}`
  return brokenReply(`The model made a tool call that cannot be read${why}. Try again.`)
}

export const unreadable = fault(
  'provider_bad_response',
  "The provider's answer could not be read for translation: it is too large, compressed, or not a JSON object.",
)
const notStreamed = fault('provider_bad_response', 'The provider answered a streamed call with a whole document.')

type Codecs = Pick<AnswerTranslation, 'client' | 'upstream'>

/** A provider's error in the client's format, with that format's status for it. */
export function answerError(
  translation: Codecs,
  leg: Leg,
  status: number,
  received: Buffer,
  retryAfterMs: number | null,
): Extract<Gated, { kind: 'error' }> {
  const read = readError(translation, leg, status, received)
  const error = retryAfterMs === null ? read : { ...read, retryAfterMs }
  const written = translation.client.writeError(error, leg.call.id)
  const body = Buffer.from(JSON.stringify(written.body))
  return { kind: 'error', head: clientHead(leg.call, false, written.status), body }
}

/** Without what the message says about the account. */
export function readError(translation: Codecs, leg: Leg, status: number, received: Buffer): ReplyError {
  const error = translation.upstream.readError(status, parseError(hideAccount(leg, received)))
  return { ...error, message: hideAccount(leg, Buffer.from(error.message)).toString() }
}

/** Google answers some errors in a list with one element. */
function parseError(body: Buffer): JsonObject | null {
  const written = parseJson(body)
  return asObject(Array.isArray(written) ? written[0] : written)
}
