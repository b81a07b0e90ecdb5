import type { ServerResponse } from 'node:http'
import { fault } from '../core/errors.ts'
import { AnswerBody } from './answer-body.ts'
import { ByteFlow } from './byte-flow.ts'
import type { Head } from './call.ts'
import { sealSecrets } from './client-secrets.ts'
import { EventFlow } from './event-flow.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { findHeader, headersDown } from './headers.ts'
import type { Answer } from './judge.ts'
import { callLocation, noteCall } from './objects/call-location.ts'
import { needsReading, noteAnswer, noteUnread, rewriteUrls } from './objects/note-answer.ts'
import { ownHeaders, refuse } from './respond.ts'
import { settle } from './settle.ts'
import { uploadHeaders } from './upload-url.ts'

/** Bytes to the client with back-pressure; the last of them only after the settled entry stands in the journal. */
export function relay(
  gateway: Gateway,
  exchange: Exchange,
  answer: Answer,
  retryAfterMs: number | null,
): Promise<void> {
  const { gated } = answer
  exchange.providerRequestId = providerRequestId(gated.head)
  exchange.firstByteMs = answer.attempt.first_byte_ms
  exchange.capture?.answerHead(gated.head.headers)
  if (gated.kind === 'error' || gated.kind === 'whole') exchange.stopHeartbeat()
  if (gated.kind === 'error') return passError(gateway, exchange, answer, retryAfterMs)
  if (exchange.match!.endpoint.issuesClientToken !== undefined) return passMinted(gateway, exchange, answer)
  if (gated.kind === 'whole')
    return passWhole(gateway, exchange, answer, readObjects(gateway, exchange, answer, gated.body))
  if (gated.kind === 'flow' && exchange.opened) {
    answer.call.abort()
    return refuseDocument(gateway, exchange)
  }
  if (gated.kind === 'flow' && needsReading(exchange)) {
    answer.call.abort()
    return refuse(gateway, exchange, fault('provider_bad_response', unreadable))
  }
  if (exchange.request.method === 'HEAD') return passHead(gateway, exchange, answer)
  if (gated.kind === 'stream' && !exchange.inspection!.streamed) noteStreamed(exchange)
  if (gated.kind === 'flow' && exchange.match!.endpoint.object !== null) noteUnread(exchange, answer)
  exchange.mark('content')
  writeHead(
    gateway,
    exchange,
    gated.head,
    gated.kind === 'stream' ? streamHeaders(gated.head) : flowHeaders(gated.head),
  )
  exchange.output ??= new AnswerBody(exchange.response)
  return new Promise((resolve) => {
    const Flow = gated.kind === 'stream' ? EventFlow : ByteFlow
    new Flow(gateway, exchange, answer, resolve).begin()
  })
}

/** Also of an answer that was not understood nothing passes: the provider's credential is somewhere in it. */
function passMinted(gateway: Gateway, exchange: Exchange, answer: Answer): Promise<void> {
  const sealed = sealSecrets(gateway, exchange, answer)
  if (Buffer.isBuffer(sealed)) return passWhole(gateway, exchange, answer, sealed)
  answer.call.abort()
  return refuse(gateway, exchange, sealed)
}

/** A form's answer tells whether a stream was asked for. */
function noteStreamed(exchange: Exchange): void {
  exchange.inspection = { ...exchange.inspection!, streamed: true, framing: exchange.match!.endpoint.stream }
}

/** What flows is not fetched for somebody who asked for its head alone. */
async function passHead(gateway: Gateway, exchange: Exchange, answer: Answer): Promise<void> {
  const { head } = answer.gated
  answer.call.abort()
  exchange.mark('last_byte')
  await settle(gateway, exchange, { status: head.status, error: null, tokens: null })
  if (exchange.gone) return
  writeHead(gateway, exchange, head, flowHeaders(head))
  exchange.response.end()
}

const unreadable =
  "The provider's answer may lead past the gateway and could not be read: it is too large, holds too many values, or came compressed. Ask for less of it."

function readObjects(gateway: Gateway, exchange: Exchange, answer: Answer, body: Buffer): Buffer {
  const match = exchange.match!
  if (match.endpoint.readWhole === true) noteCall(exchange, answer)
  else if (match.endpoint.object !== null) return noteAnswer(gateway, exchange, answer, body)
  return match.endpoint.answersHoldUrls ? rewriteUrls(gateway, exchange, answer, body) : body
}

function writeHead(
  gateway: Gateway,
  exchange: Exchange,
  head: Head,
  more: readonly string[],
  retryAfterMs: number | null = null,
): void {
  if (exchange.opened || exchange.gone) return
  exchange.response.writeHead(head.status, [
    ...headersDown(head.headers, retryAfterMs),
    ...ownHeaders(gateway, exchange),
    ...more,
  ])
}

/** Keeps caches and buffering proxies on the way from holding events back (wire/streaming.md section 0). */
function streamHeaders({ headers }: Head): string[] {
  const wanted = [
    ['cache-control', 'no-cache'],
    ['x-accel-buffering', 'no'],
  ] as const
  return wanted.filter(([name]) => findHeader(headers, name) === null).flat()
}

/** The length is true only of bytes that pass untouched. */
function flowHeaders({ headers }: Head): string[] {
  const length = findHeader(headers, 'content-length')
  return length === null ? [] : ['content-length', length]
}

/** An answer that has no body by its status has no length either (RFC 9110, 8.6). */
function lengthOf({ status }: Head, body: Buffer): string[] {
  return status === 204 || status === 304 ? [] : ['content-length', String(body.length)]
}

async function passWhole(gateway: Gateway, exchange: Exchange, answer: Answer, body: Buffer): Promise<void> {
  if (exchange.opened) return refuseDocument(gateway, exchange)
  const { head } = answer.gated
  exchange.responseBytes = exchange.request.method === 'HEAD' ? 0 : body.length
  exchange.capture?.answer(body)
  exchange.mark('last_byte')
  await settle(gateway, exchange, { status: head.status, error: null, tokens: answer.call.reader.usage() })
  if (exchange.gone) return
  const more = [...lengthOf(head, body), ...uploadHeaders(gateway, exchange, answer), ...callLocation(exchange, answer)]
  writeHead(gateway, exchange, head, more)
  endWith(exchange.response, body)
}

/** Up to here a body is handed on as text, which Node joins with the head into one plain write; Latin-1 keeps every byte. */
const joinedBytes = 16 * 1024

function endWith(response: ServerResponse, body: Buffer): void {
  if (body.length <= joinedBytes) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

/** The client was promised a stream; a document in its place would be read as nothing. */
function refuseDocument(gateway: Gateway, exchange: Exchange): Promise<void> {
  const reason = fault('provider_bad_response', 'The provider answered a streamed call with a whole document.')
  return refuse(gateway, exchange, reason)
}

/** A provider's own error: status and body as they came, but for account ids. */
async function passError(
  gateway: Gateway,
  exchange: Exchange,
  answer: Answer,
  retryAfterMs: number | null,
): Promise<void> {
  const { head } = answer.gated
  const body = answer.error!.body
  const error = {
    code: 'provider_error',
    origin: 'provider',
    message: `The provider answered ${head.status}.`,
  } as const
  if (exchange.opened) {
    return refuse(
      gateway,
      exchange,
      fault('provider_bad_response', `The provider answered ${head.status} after the stream was opened.`),
    )
  }
  // Also where another try was meant and could not be made.
  answer.attempt.outcome = 'passed'
  exchange.responseBytes = body.length
  exchange.capture?.answer(body)
  exchange.mark('last_byte')
  await settle(gateway, exchange, { status: head.status, error, tokens: null })
  if (exchange.gone) return
  const more = [...lengthOf(head, body), 'x-sp-error', error.code, 'x-sp-error-origin', error.origin]
  more.push(...uploadHeaders(gateway, exchange, answer))
  writeHead(gateway, exchange, head, more, retryAfterMs)
  exchange.response.end(body)
}

const requestIdHeaders = ['x-request-id', 'request-id', 'apim-request-id', 'x-amzn-requestid']

/** The provider's own id for the call, which its support asks for. */
function providerRequestId(head: Head): string | null {
  for (const name of requestIdHeaders) {
    const id = findHeader(head.headers, name)
    if (id !== null) return id
  }
  return null
}
