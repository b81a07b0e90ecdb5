import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fault } from '../../core/errors.ts'
import type { Arrival } from '../request/arrival.ts'
import { stopListening } from '../server.ts'
import type { Deadlines } from './deadlines.ts'
import type { Traffic } from './traffic.ts'

/**
 * A connection on which nothing happens may have a request on its way, which closing it would lose. One that comes within
 * this time is answered, with the word that the connection closes; only what was silent for as long is closed.
 */
const quietMs = 500
/** For what was ended at the limit, to be recorded and to reach its client. */
const lastAnswersMs = 1000
/** For what nobody waits for any more, to be recorded: bodies that are kept must be masked and sealed first. */
const settleMs = 1000
const lookMs = 20

export interface Pause {
  /** Resolves when no connection is left. */
  closed: Promise<void>
  /** What was asked since may begin. */
  begin(): void
}

/**
 * New connections are refused when this resolves. From its start on nothing is begun that is asked: whoever gets an answer may dial anew at
 * once, and to a listener that closes under him.
 */
export async function pauseNew(traffic: Traffic, server: Server): Promise<Pause> {
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  traffic.paused = promise
  return { ...(await stopListening(server)), begin }
}

/** Open requests end, up to the limit; what is left then is ended in words. */
export async function drain(traffic: Traffic, server: Server, closed: Promise<void>, limitMs: number): Promise<void> {
  const { gateway, requests } = traffic
  gateway.draining = true
  // Nobody waits for them.
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

/** At most so long, counted in pauses: a time in which this process was not run is no waiting. */
export async function waitWhile(isSo: () => boolean, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0 && isSo(); left -= lookMs) await wait(lookMs)
}

/** From now on closes each connection on which nothing happens for long enough; until told to stop. */
export function closeQuiet(traffic: Traffic): () => void {
  let unused = listUnused(traffic)
  const check = () => (unused = closeUnused(traffic, unused))
  // In the same turn, but behind the reading: after a stall, what came meanwhile would still count as silence.
  const quiet = setInterval(() => setImmediate(check), quietMs)
  return () => clearInterval(quiet)
}

/** Connections on which nothing is in progress, with how much each has sent so far. */
type Unused = ReadonlyMap<Socket, number>

/** Also those on which no request has ever begun, which Node's own closing of idle connections leaves open. */
function listUnused({ requests, connections }: Traffic): Unused {
  const busy = new Set(requests.all().map(({ request }) => request.socket))
  const free = connections.all().filter(({ socket }) => !busy.has(socket) && socket.writableLength === 0)
  return new Map(free.map(({ socket }) => [socket, socket.bytesRead]))
}

/** Closes what was unused before and has been since. Returns what is unused now. */
function closeUnused(traffic: Traffic, before: Unused): Unused {
  const now = listUnused(traffic)
  for (const [socket, bytes] of now) if (before.get(socket) === bytes) socket.destroy()
  return now
}

function stopping() {
  return fault('overloaded', 'The gateway stopped before this request had ended. Send it again.')
}

/** This answer is the last on its connection: said in its head where that is still to be written. */
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

/** Ends all that is in progress for a revoked key: what has begun in the lane's error event, the rest as a refusal. */
export function closeStreams({ requests }: Traffic, keyId: string): void {
  const reason = fault('invalid_key', 'This gateway key was revoked while its request was in progress.')
  for (const { trace, abort } of requests.all()) {
    if (trace.key?.id !== keyId || abort.settled) continue
    trace.policySignals.push({ rule: 'key', verdict: 'deny', text: reason.message })
    abort.abort(reason)
  }
}
