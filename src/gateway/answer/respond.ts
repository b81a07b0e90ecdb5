import { type Fault, originOf } from '../../core/errors.ts'
import type { RenderedError } from '../../lanes/contract.ts'
import { defaultLane } from '../../lanes/index.ts'
import type { Arrival } from '../request/arrival.ts'
import { discardBody } from '../request/body.ts'
import type { RequestEnd } from '../request/trace.ts'
import { clientClosed, endOfFault, settle } from './settle.ts'

/** Headers of an answer that the gateway itself makes, with the gateway's request id where SDKs expect the provider's. */
export function ownAnswerHeaders(arrival: Arrival): string[] {
  const name = arrival.lane?.requestIdHeader ?? null
  const headers = arrival.ownHeaders()
  return name === null ? headers : [...headers, name, arrival.id]
}

/** Tokens that a provider charges for although the client gets none of its answer. */
export type Used = Pick<RequestEnd, 'tokens' | 'detail' | 'free' | 'earlier'>

const usedNothing: Used = { tokens: null }

/**
 * Ends a request with a fault, first on its record, then to the client: in the lane's error shape, or as its error event if a stream is
 * open.
 */
export async function reject(arrival: Arrival, reason: Fault, used: Used = usedNothing): Promise<void> {
  arrival.reply.keepAlive?.stop()
  if (arrival.reply.opened) return rejectOpened(arrival, reason)
  const lane = arrival.lane ?? defaultLane
  return rejectWith(arrival, reason, lane.renderError(reason, arrival.id), used)
}

/** The same with a body that the caller rendered. Only before any of the answer was sent. */
export async function rejectWith(
  arrival: Arrival,
  reason: Fault,
  rendered: RenderedError,
  used: Used = usedNothing,
): Promise<void> {
  const { request, response, body } = arrival
  if (request.method !== 'HEAD') arrival.trace.responseBytes += rendered.body.length
  arrival.capture?.ownAnswer(rendered.headers.flat(), rendered.body)
  await settle(arrival, { ...endOfFault(reason, null, rendered.status), ...used })
  // An answer has begun, so the request has already ended in another way.
  if (arrival.abort.disconnected || response.destroyed || response.headersSent) return
  const headers = ownAnswerHeaders(arrival)
  headers.push('x-sp-error', reason.code, 'x-sp-error-origin', originOf(reason))
  for (const [name, value] of rendered.headers) headers.push(name, value)
  headers.push('content-length', String(rendered.body.length))
  // A client that waits for `100 Continue` would otherwise wait forever on this connection.
  if (request.headers.expect !== undefined) headers.push('connection', 'close')
  if (body.upload !== null) body.upload.close()
  else if (!request.complete) discardBody(request, arrival.gateway.deadlines)
  response.writeHead(rendered.status, headers)
  response.end(request.method === 'HEAD' ? undefined : rendered.body)
}

/** The client has disconnected, or the gateway itself has ended the request. */
export async function settleAborted(arrival: Arrival): Promise<void> {
  const { reason } = arrival.abort
  if (reason !== null) return reject(arrival, reason)
  await settle(arrival, { status: 499, error: clientClosed, tokens: null })
}

/** The head was sent with status 200, so the fault can only be an event of the stream. */
async function rejectOpened(arrival: Arrival, reason: Fault): Promise<void> {
  const { lane, match, reply } = arrival
  if (lane === null || match === null) return void arrival.response.destroy()
  const event = lane.streamError(match, reason, arrival.id, null)
  arrival.trace.responseBytes += event.length
  arrival.capture?.ownAnswer(['content-type', 'text/event-stream'], event)
  await settle(arrival, endOfFault(reason, null, 200))
  if (arrival.abort.disconnected) return
  reply.body.add(event)
  reply.body.end()
}
