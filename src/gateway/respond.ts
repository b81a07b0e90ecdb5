import { errorTable, type Fault } from '../core/errors.ts'
import type { RenderedError } from '../lanes/contract.ts'
import { findLane } from '../lanes/index.ts'
import { discardBody } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { clientClosed, endOfFault, settle } from './settle.ts'

/** Headers that every answer carries. */
export function ownHeaders(gateway: Gateway, exchange: Exchange): string[] {
  const headers = ['x-sp-request-id', exchange.id]
  const origin = exchange.request.headers.origin
  if (origin !== undefined && allowsOrigin(gateway, origin)) {
    headers.push('access-control-allow-origin', origin, 'access-control-expose-headers', '*', 'vary', 'origin')
  }
  return headers
}

export function allowsOrigin(gateway: Gateway, origin: string): boolean {
  return gateway.settings.corsOrigins.includes(origin) || gateway.settings.corsOrigins.includes('*')
}

/** For answers of the gateway's own, whose id is the gateway's in the SDK's place too. */
export function ownAnswerHeaders(gateway: Gateway, exchange: Exchange): string[] {
  const name = exchange.lane?.requestIdHeader ?? null
  const headers = ownHeaders(gateway, exchange)
  return name === null ? headers : [...headers, name, exchange.id]
}

/** Ends an exchange with a fault of the gateway's own: recorded first, then in the lane's shape, or as its error event. */
export async function refuse(gateway: Gateway, exchange: Exchange, reason: Fault): Promise<void> {
  exchange.stopHeartbeat()
  if (exchange.opened) return endOpened(gateway, exchange, reason)
  const lane = exchange.lane ?? findLane('/v1')!
  return refuseWith(gateway, exchange, reason, lane.renderError(reason, exchange.id))
}

/** The same in words that are not the lane's for that fault. Before anything of the answer has gone out. */
export async function refuseWith(
  gateway: Gateway,
  exchange: Exchange,
  reason: Fault,
  rendered: RenderedError,
): Promise<void> {
  exchange.responseBytes += rendered.body.length
  exchange.capture?.ownAnswer(rendered.headers.flat(), rendered.body)
  await settle(gateway, exchange, endOfFault(reason, null, rendered.status))
  const { request, response } = exchange
  // An answer that has begun is another end's, which was first.
  if (exchange.gone || response.destroyed || response.headersSent) return
  const headers = [
    ...ownAnswerHeaders(gateway, exchange),
    'x-sp-error',
    reason.code,
    'x-sp-error-origin',
    errorTable[reason.code].origin,
  ]
  for (const [name, value] of rendered.headers) headers.push(name, value)
  headers.push('content-length', String(rendered.body.length))
  // A client that waits to be asked for its body would wait for ever on this connection.
  if (request.headers.expect !== undefined) headers.push('connection', 'close')
  if (exchange.upload !== null) exchange.upload.close()
  else if (!request.complete) discardBody(request, gateway.deadlines)
  response.writeHead(rendered.status, headers)
  response.end(request.method === 'HEAD' ? undefined : rendered.body)
}

/** Nobody waits for the answer any more, or the gateway itself has ended the exchange. */
export async function settleStopped(gateway: Gateway, exchange: Exchange): Promise<void> {
  if (exchange.ending !== null) return refuse(gateway, exchange, exchange.ending)
  await settle(gateway, exchange, { status: 499, error: clientClosed, tokens: null })
}

/** The head has gone out with 200: the only place left for the fault is the stream itself. */
async function endOpened(gateway: Gateway, exchange: Exchange, reason: Fault): Promise<void> {
  const event = exchange.lane!.streamError(exchange.match!, reason, exchange.id, null)
  exchange.responseBytes += event.length
  exchange.capture?.ownAnswer(['content-type', 'text/event-stream'], event)
  await settle(gateway, exchange, endOfFault(reason, null, 200))
  if (exchange.gone) return
  exchange.output!.add(event)
  exchange.output!.end()
}
