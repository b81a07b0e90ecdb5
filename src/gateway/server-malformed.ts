import http from 'node:http'
import type { Socket } from 'node:net'
import type { Fault } from '../core/errors.ts'
import { defaultLane } from '../lanes/index.ts'
import { endOfFault, settle } from './answer/settle.ts'
import type { Gateway } from './gateway.ts'
import { Arrival } from './request/arrival.ts'
import { explainMalformed, type ParserError } from './request/explain-malformed.ts'
import type { Traffic } from './thread/traffic.ts'

/** How long bytes that nobody wants are still taken in, so that the answer arrives. */
const lingerMs = 1000

/** Bytes that are no HTTP request. */
export function rejectMalformed(traffic: Traffic, error: ParserError, socket: Socket): void {
  // Rejected already: what still arrives fails to parse again.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  // Nobody asked anything: an answer now would be taken for that of the first request.
  if (socket.bytesRead === 0) return void socket.destroy()
  const open = traffic.requestsOn(socket)
  // Its client closed in the middle of its body: nobody waits for an answer.
  if (error.code === 'HPE_INVALID_EOF_STATE' && open.length > 0) return void socket.destroy()
  // What came whole has its answer, whatever follows it.
  if (open.length > 0 && open.every(({ request }) => request.complete)) return answerLast(open, socket)
  // Only a request that is still being read can be rejected: any other would get these bytes into its answer.
  if (open.some(({ request, response }) => request.complete || response.headersSent)) return void socket.destroy()
  const arrival = open[0] ?? unreadArrival(traffic.gateway, socket)
  writeRejection(arrival, explainMalformed(error), socket).catch(() => socket.destroy())
}

/** The connection ends behind the answers to what came whole: a body longer than its head says, or more behind a `connection: close`. */
function answerLast(open: readonly Arrival[], socket: Socket): void {
  const { response } = open.reduce((last, each) => (each.trace.started > last.trace.started ? each : last))
  // Its own word, or said already: each further piece fails to parse anew.
  if (!response.shouldKeepAlive) return
  if (response.headersSent) response.once('close', () => closeSoon(socket))
  response.shouldKeepAlive = false
}

/** Node has no response for a head that it could not read: this one only carries the record. */
function unreadArrival(gateway: Gateway, socket: Socket): Arrival {
  const request = new http.IncomingMessage(socket)
  return new Arrival(gateway, request, new http.ServerResponse(request), socket.remoteAddress ?? null)
}

/** By hand, since the parser has given the connection up. The OpenAI shape serves all: there is no path to tell a lane by. */
async function writeRejection(arrival: Arrival, reason: Fault, socket: Socket): Promise<void> {
  const { status, headers, body } = defaultLane.renderError(reason, arrival.id)
  const settled = settle(arrival, endOfFault(reason))
  // What runs for it ends at once: the answer is written here.
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

/** Closed with bytes unread, the connection would be reset and the client would never see the answer. */
export function closeSoon(socket: Socket): void {
  socket.end()
  socket.removeAllListeners('data').resume()
  setTimeout(() => socket.destroy(), lingerMs).unref()
}
