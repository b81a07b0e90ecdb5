import type { Server } from 'node:http'
import { fault } from '../core/errors.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { stopListening, takeWaiting } from './server.ts'

/**
 * A connection on which nothing happens may have a request on its way, which closing it would lose; one that comes
 * within this time is answered, with the word that the connection closes.
 */
const quietMs = 500
/** For what was ended at the limit, to be recorded and to reach its client. */
const lastWordsMs = 1000

/** New connections are refused and open requests end, up to the limit; what is left then is ended in words. */
export async function drain(gateway: Gateway, server: Server, limitMs: number): Promise<void> {
  gateway.draining = true
  for (const exchange of gateway.exchanges.all()) closeBehind(exchange)
  await takeWaiting(server)
  const closed = stopListening(server)
  const quiet = setTimeout(() => closeUnused(gateway, server), Math.min(quietMs, limitMs))
  if (!(await endsWithin(gateway, closed, limitMs))) {
    for (const exchange of gateway.exchanges.all()) exchange.stop(stopping())
    await endsWithin(gateway, closed, lastWordsMs)
  }
  clearTimeout(quiet)
  server.closeAllConnections()
}

/** Those that wait for their next request, and those on which none has ever begun, which Node does not count as idle. */
function closeUnused(gateway: Gateway, server: Server): void {
  server.closeIdleConnections()
  for (const { socket } of gateway.connections.all()) if (socket.bytesRead === 0) socket.destroy()
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
