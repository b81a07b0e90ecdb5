import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fault } from '../core/errors.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { stopListening } from './server.ts'

/**
 * A connection on which nothing happens may have a request on its way, which closing it would lose. One that comes within
 * this time is answered, with the word that the connection closes; only what was silent for as long is closed.
 */
const quietMs = 500
/** For what was ended at the limit, to be recorded and to reach its client. */
const lastWordsMs = 1000
/** For what nobody waits for any more, to be recorded: bodies that are kept must be masked and sealed first. */
const settleMs = 1000
const lookMs = 20

export interface Refusal {
  /** Resolves when no connection is left. */
  closed: Promise<void>
  /** What was asked since may begin. */
  begin(): void
}

/**
 * New connections are refused when this resolves. From its start on nothing is begun that is asked: whoever gets an answer may dial anew at
 * once, and to a listener that closes under him.
 */
export async function refuseNew(gateway: Gateway, server: Server): Promise<Refusal> {
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  gateway.held = promise
  return { ...(await stopListening(server)), begin }
}

/** Open requests end, up to the limit; what is left then is ended in words. */
export async function drain(gateway: Gateway, server: Server, closed: Promise<void>, limitMs: number): Promise<void> {
  gateway.draining = true
  for (const exchange of gateway.exchanges.all()) {
    if (!exchange.response.headersSent) exchange.response.shouldKeepAlive = false
    exchange.tellDraining()
  }
  const stopClosing = closeQuiet(gateway)
  if (!(await endsWithin(gateway, closed, limitMs))) {
    for (const exchange of gateway.exchanges.all()) exchange.stop(stopping())
    await endsWithin(gateway, closed, lastWordsMs)
  }
  stopClosing()
  server.closeAllConnections()
  await waitWhile(() => gateway.exchanges.size > 0, settleMs)
}

/** At most so long, counted in pauses: a time in which this process was not run is no waiting. */
export async function waitWhile(isSo: () => boolean, milliseconds: number): Promise<void> {
  for (let left = milliseconds; left > 0 && isSo(); left -= lookMs) await wait(lookMs)
}

/** From now on closes each connection on which nothing happens for long enough; until told to stop. */
export function closeQuiet(gateway: Gateway): () => void {
  let unused = listUnused(gateway)
  const look = () => (unused = closeUnused(gateway, unused))
  // In the same turn, but behind the reading: after a stall, what came meanwhile would still count as silence.
  const quiet = setInterval(() => setImmediate(look), quietMs)
  return () => clearInterval(quiet)
}

/** Connections on which nothing is under way, with how much each has sent so far. */
type Unused = ReadonlyMap<Socket, number>

/** Also those on which no request has ever begun, which Node's own closing of idle connections leaves open. */
function listUnused(gateway: Gateway): Unused {
  const busy = new Set(gateway.exchanges.all().map(({ request }) => request.socket))
  const free = gateway.connections.all().filter(({ socket }) => !busy.has(socket) && socket.writableLength === 0)
  return new Map(free.map(({ socket }) => [socket, socket.bytesRead]))
}

/** Closes what was unused before and has been since. Returns what is unused now. */
function closeUnused(gateway: Gateway, before: Unused): Unused {
  const now = listUnused(gateway)
  for (const [socket, bytes] of now) if (before.get(socket) === bytes) socket.destroy()
  return now
}

function stopping() {
  return fault('overloaded', 'The gateway stopped before this request had ended. Send it again.')
}

/** This answer is the last on its connection: said in its head where that is still to be written. */
export function closeBehind({ request, response }: Exchange): void {
  if (!response.headersSent) response.shouldKeepAlive = false
  else response.once('close', () => request.socket.end())
}

async function endsWithin(gateway: Gateway, closed: Promise<void>, limitMs: number): Promise<boolean> {
  const limit = gateway.deadlines.sleep(limitMs)
  const ended = await Promise.race([closed.then(() => true), limit.done.then(() => false)])
  limit.cancel()
  return ended
}
