import type { Server } from 'node:http'
import { reject } from '../answer/respond.ts'
import { endOfFault, settle } from '../answer/settle.ts'
import type { Arrival } from '../request/arrival.ts'
import { threadFault } from '../server.ts'
import { closeBehind, closeQuiet, type Pause, waitWhile } from './drain.ts'
import type { Traffic } from './traffic.ts'

/** Time for open requests to end normally; after that they are forced. */
const wordsMs = 500
/**
 * Time for forced ends to reach their clients, and for the last connections to be read and refused: on a busy machine neither is immediate.
 */
const lastMs = 1000

/**
 * Ends a thread after an uncaught error. New connections go to other threads. Open requests end with the lane's error and are recorded;
 * those that cannot be told are recorded all the same. It relies on as little as possible, since the fault may have affected anything.
 * `successor`: no other thread is listening, so until this resolves, connections are accepted and refused with an error. On a busy machine
 * starting a thread can take many seconds.
 */
export async function shutDownAfterCrash(
  traffic: Traffic,
  server: Server,
  successor: Promise<void> | null,
  pause: () => Promise<Pause>,
): Promise<void> {
  if (successor !== null) {
    await endOpen(traffic)
    await successor
  }
  // Nothing is answered or begun in the meantime: a second fault would cut every accepted connection.
  traffic.gateway.crashing = false
  const { closed, begin } = await pause()
  const ended = endOpen(traffic)
  begin()
  await ended
  const stopClosing = closeQuiet(traffic)
  let standing = true
  void closed.then(() => (standing = false))
  await waitWhile(() => standing, lastMs)
  stopClosing()
  server.closeAllConnections()
}

/** From now on every new request is refused at once. */
async function endOpen(traffic: Traffic): Promise<void> {
  traffic.gateway.crashing = true
  traffic.gateway.draining = true
  const open = traffic.requests.all()
  for (const arrival of open) attempt(() => end(arrival))
  closeKept(traffic, open)
  await waitWhile(() => open.some(isOpen), wordsMs)
  for (const arrival of open.filter(isOpen)) attempt(() => force(arrival))
}

/**
 * Closes idle connections: their clients connect to another thread next. A new connection has its first request on the way, and Node's own
 * closing of idle connections would close it too.
 */
function closeKept({ connections }: Traffic, open: readonly Arrival[]): void {
  const busy = new Set(open.map(({ request }) => request.socket))
  for (const { socket } of connections.all()) if (socket.bytesRead > 0 && !busy.has(socket)) socket.end()
}

function isOpen({ abort }: Arrival): boolean {
  return !abort.settled
}

function end(arrival: Arrival): void {
  closeBehind(arrival)
  arrival.abort.abort(threadFault())
}

/** Its normal end has not worked: it waits for a body, or the fault has affected it. */
function force(arrival: Arrival): void {
  const { response, reply } = arrival
  const reason = threadFault()
  // The head is not the lane's error, and bytes that were sent cannot be taken back.
  const forced = response.headersSent && !reply.opened ? settle(arrival, endOfFault(reason)) : reject(arrival, reason)
  forced.catch(() => response.destroy())
}

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The next requests may still be intact; this one is forced, or ends with its connection.
  }
}
