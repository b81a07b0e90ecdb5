import type { Server } from 'node:http'
import { reject } from '../answer/respond.ts'
import { endOfFault, settle } from '../answer/settle.ts'
import type { Arrival } from '../request/arrival.ts'
import { threadFault } from '../server.ts'
import { closeBehind, closeQuiet, type Pause, waitWhile } from './drain.ts'
import type { Traffic } from './traffic.ts'

/** Until what is open has ended by itself; the rest is then forced. */
const wordsMs = 500
/** For what was forced to reach its client, and for what was taken in last to be asked and refused: on a busy machine neither is at once. */
const lastMs = 1000

/**
 * A thread that must end: new connections go to the others, what is open ends in the lane's error and is recorded, and
 * what cannot be told so is recorded all the same. Counts on as little as it can: the fault may have hit anything.
 * `successor`: no other thread listens, so until this resolves connections are taken on, and refused in words. However long
 * that takes: on a machine that is busy enough a thread starts in many seconds.
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
  // No answer meanwhile. Nor is anything begun: a second fault would cut all that has been taken in.
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

/** From now on whatever comes is refused at once. */
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
 * A connection that is kept for a request to come is closed at once: its client opens the next one to another thread.
 * One on which nothing has come yet has its first request on the way (Node's own closing of idle connections closes it too).
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

/** Its own way to its end has not led there: it waits for a body, or the fault has hit it. */
function force(arrival: Arrival): void {
  const { response, reply } = arrival
  const reason = threadFault()
  // A head that is another's than the lane's error: its bytes cannot be taken back.
  const forced = response.headersSent && !reply.opened ? settle(arrival, endOfFault(reason)) : reject(arrival, reason)
  forced.catch(() => response.destroy())
}

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The next ones may still be well; this one is forced, or closed with its connection.
  }
}
