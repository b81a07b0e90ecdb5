import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fault } from '../../core/errors.ts'
import type { Arrival } from '../request/arrival.ts'
import { stopListening } from '../server.ts'
import type { Deadlines } from './deadlines.ts'
import type { Traffic } from './traffic.ts'

/**
 * A request may be on its way on an idle connection, and closing that connection would lose it. So only connections that were silent for
 * this long are closed. A request that arrives before is answered, and its answer says that the connection closes.
 */
const quietMs = 500
/** Time for requests that were ended at the limit to be recorded and to reach their clients. */
const lastAnswersMs = 1000
/** Time to record requests whose connections are closed: captured bodies must be masked and sealed first. */
const settleMs = 1000
const lookMs = 20

export interface Pause {
  /** Resolves when no connection is left. */
  closed: Promise<void>
  /** Lets the requests begin that have arrived in the meantime. */
  begin(): void
}

/**
 * Resolves once new connections are refused. Requests that arrive meanwhile wait: a client that got its answer could reconnect at once, to
 * a listener that is about to close.
 */
export async function pauseNew(traffic: Traffic, server: Server): Promise<Pause> {
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  traffic.paused = promise
  return { ...(await stopListening(server)), begin }
}

/** Waits for open requests up to the limit, then ends the rest with an error. */
export async function drain(traffic: Traffic, server: Server, closed: Promise<void>, limitMs: number): Promise<void> {
  const { gateway, requests } = traffic
  gateway.draining = true
  // Nobody waits for shadow requests.
  for (const abort of gateway.shadows) abort.abort(stopping())
  for (const { response, abort } of requests.all()) {
    if (!response.headersSent) response.shouldKeepAlive = false
    abort.drain()
  }
  const stopClosing = closeQuiet(traffic)
  if (!(await endsWithin(gateway.deadlines, closed, limitMs))) {
    for (const { abort } of requests.all()) abort.abort(stopping())
    await endsWithin(gateway.deadlines, closed, lastAnswersMs)
  }
  stopClosing()
  server.closeAllConnections()
  await waitWhile(() => requests.size > 0 || gateway.shadows.size > 0, settleMs)
}

/** Waits at most this long. Counts pauses, so that time during which the process was suspended does not count. */
export async function waitWhile(isSo: () => boolean, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0 && isSo(); left -= lookMs) await wait(lookMs)
}

/** Closes each connection that stays idle for long enough, until the returned function is called. */
export function closeQuiet(traffic: Traffic): () => void {
  let unused = listUnused(traffic)
  const check = () => (unused = closeUnused(traffic, unused))
  // After this turn's reads: otherwise a connection whose data came during a stall would still count as silent.
  const quiet = setInterval(() => setImmediate(check), quietMs)
  return () => clearInterval(quiet)
}

/** Idle connections, with the bytes that each has sent so far. */
type Unused = ReadonlyMap<Socket, number>

/** Includes connections that never had a request, which Node's `closeIdleConnections` leaves open. */
function listUnused({ requests, connections }: Traffic): Unused {
  const busy = new Set(requests.all().map(({ request }) => request.socket))
  const free = connections.all().filter(({ socket }) => !busy.has(socket) && socket.writableLength === 0)
  return new Map(free.map(({ socket }) => [socket, socket.bytesRead]))
}

/** Closes the connections that were idle at the last check and still are. Returns those that are idle now. */
function closeUnused(traffic: Traffic, before: Unused): Unused {
  const now = listUnused(traffic)
  for (const [socket, bytes] of now) if (before.get(socket) === bytes) socket.destroy()
  return now
}

function stopping() {
  return fault('overloaded', 'The gateway stopped before this request had ended. Send it again.')
}

/** Makes this answer the last one on its connection, and says so in its head if the head is not sent yet. */
export function closeBehind({ request, response }: Arrival): void {
  if (!response.headersSent) response.shouldKeepAlive = false
  else response.once('close', () => request.socket.end())
}

async function endsWithin(deadlines: Deadlines, closed: Promise<void>, limitMs: number): Promise<boolean> {
  const limit = deadlines.sleep(limitMs)
  const ended = await Promise.race([closed.then(() => true), limit.done.then(() => false)])
  limit.cancel()
  return ended
}

/** Ends all requests of a revoked key: streams that have begun with the lane's error event, others with an error. */
export function closeStreams({ requests }: Traffic, keyId: string): void {
  const reason = fault('invalid_key', 'This gateway key was revoked while its request was in progress.')
  for (const { trace, abort } of requests.all()) {
    if (trace.key?.id !== keyId || abort.settled) continue
    trace.policySignals.push({ rule: 'key', verdict: 'deny', text: reason.message })
    abort.abort(reason)
  }
}
