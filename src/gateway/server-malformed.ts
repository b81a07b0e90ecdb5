import http from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/errors.ts'
import { defaultLane } from '../lanes/index.ts'
import { endOfFault, settle } from './answer/settle.ts'
import type { Gateway } from './gateway.ts'
import { Arrival } from './request/arrival.ts'
import { isDiscarding } from './request/body.ts'
import { explainMalformed, type ParserError } from './request/explain-malformed.ts'
import type { Traffic } from './thread/traffic.ts'

/** How long the rest of a rejected request is still received, so that the answer reaches the client. */
const lingerMs = 1000

/** Answers bytes that are no valid HTTP request. */
export function rejectMalformed(traffic: Traffic, error: ParserError, socket: Socket): void {
  // Already rejected: the bytes that follow fail to parse again.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  // Nothing was sent on this connection: the client would take an answer for the one to its first request.
  if (socket.bytesRead === 0) return void socket.destroy()
  const open = traffic.requestsOn(socket)
  // The client closed in the middle of a body, so it does not wait for an answer.
  if (error.code === 'HPE_INVALID_EOF_STATE' && open.length > 0) return void socket.destroy()
  // It gave up sending what had been rejected, or goes on with something else: that is no request.
  if (open.length === 0 && isDiscarding(socket)) return closeSoon(socket)
  // Requests that arrived complete are answered, whatever follows them.
  if (open.length > 0 && open.every(({ request }) => request.complete)) return answerLast(open, socket)
  // Only a request that is still being read can be rejected. Otherwise these bytes would end up inside another answer.
  if (open.some(({ request, response }) => request.complete || response.headersSent)) return void socket.destroy()
  const arrival = open[0] ?? unreadArrival(traffic.gateway, socket)
  writeRejection(arrival, explainMalformed(error), socket).catch(() => socket.destroy())
}

/** Closes the connection after the answers to complete requests, whose bodies were followed by more bytes than their heads announce. */
function answerLast(open: readonly Arrival[], socket: Socket): void {
  const { response } = open.reduce((last, each) => (each.trace.started > last.trace.started ? each : last))
  // Already marked as the last, by its own header or by an earlier call: every further piece fails to parse again.
  if (!response.shouldKeepAlive) return
  if (response.headersSent) response.once('close', () => closeSoon(socket))
  response.shouldKeepAlive = false
}

/** Node makes no response for a head that it cannot parse; this one only carries the record. */
function unreadArrival(gateway: Gateway, socket: Socket): Arrival {
  const request = new http.IncomingMessage(socket)
  return new Arrival(gateway, request, new http.ServerResponse(request), socket.remoteAddress ?? null)
}

/** Written by hand, since Node's parser has given up the connection. In OpenAI's form: without a path there is no lane. */
async function writeRejection(arrival: Arrival, reason: Fault, socket: Socket): Promise<void> {
  const { status, headers, body } = defaultLane.renderError(reason, arrival.id)
  const settled = settle(arrival, endOfFault(reason))
  // Whatever still works on the request must end: its answer is written here.
  arrival.abort.disconnect()
  await settled
  const own = [
    ['x-sp-request-id', arrival.id],
    ['x-sp-error', reason.code],
    ['x-sp-error-origin', 'client'],
  ] as const
  const lines = [...headers, ...own].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines}content-length: ${body.length}\r\nconnection: close\r\n\r\n`
  socket.write(Buffer.concat([Buffer.from(head), body]))
  closeSoon(socket)
}

/** Closes the connection after receiving for a while: closing it with unread bytes would reset it, and the client would lose the answer. */
export function closeSoon(socket: Socket): void {
  socket.end()
  socket.removeAllListeners('data').resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
