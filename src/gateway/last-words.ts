import type { Server } from 'node:http'
import { closeBehind, closeQuiet, type Refusal, waitWhile } from './drain.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { refuse } from './respond.ts'
import { threadFault } from './server.ts'
import { endOfFault, settle } from './settle.ts'

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
export async function sayLastWords(
  gateway: Gateway,
  server: Server,
  successor: Promise<void> | null,
  refuseNew: () => Promise<Refusal>,
): Promise<void> {
  if (successor !== null) {
    await endOpen(gateway)
    await successor
  }
  // No answer meanwhile. Nor is anything begun: a second fault would cut all that has been taken in.
  gateway.dying = false
  const { closed, begin } = await refuseNew()
  const ended = endOpen(gateway)
  begin()
  await ended
  const stopClosing = closeQuiet(gateway)
  let standing = true
  void closed.then(() => (standing = false))
  await waitWhile(() => standing, lastMs)
  stopClosing()
  server.closeAllConnections()
}

/** From now on whatever comes is refused at once. */
async function endOpen(gateway: Gateway): Promise<void> {
  gateway.dying = true
  gateway.draining = true
  const open = gateway.exchanges.all()
  for (const exchange of open) attempt(() => stop(exchange))
  closeKept(gateway, open)
  await waitWhile(() => open.some(isOpen), wordsMs)
  for (const exchange of open.filter(isOpen)) attempt(() => force(gateway, exchange))
}

/**
 * A connection that is kept for a request to come is closed at once: its client opens the next one to another thread.
 * One on which nothing has come yet has its first request on the way (Node's own closing of idle connections closes it too).
 */
function closeKept(gateway: Gateway, open: readonly Exchange[]): void {
  const busy = new Set(open.map(({ request }) => request.socket))
  for (const { socket } of gateway.connections.all()) if (socket.bytesRead > 0 && !busy.has(socket)) socket.end()
}

function isOpen({ settled }: Exchange): boolean {
  return !settled
}

function stop(exchange: Exchange): void {
  closeBehind(exchange)
  exchange.stop(threadFault())
}

/** Its own way to its end has not led there: it waits for a body, or the fault has hit it. */
function force(gateway: Gateway, exchange: Exchange): void {
  const reason = threadFault()
  // A head that is another's than the lane's error: its bytes cannot be taken back.
  const told =
    exchange.response.headersSent && !exchange.opened
      ? settle(gateway, exchange, endOfFault(reason))
      : refuse(gateway, exchange, reason)
  told.catch(() => exchange.response.destroy())
}

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // The next ones may still be well; this one is forced, or closed with its connection.
  }
}
