import { AnswerBody } from './answer-body.ts'
import { Deadline } from './deadlines.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { ownAnswerHeaders } from './respond.ts'

/**
 * Keeps a silent stream alive where the lane's SDKs bear it (wire/streaming.md section 0): after each interval without
 * a byte the stream is opened, if it was not yet, and gets the lane's heartbeat. Never inside an event.
 * `exchange.stopHeartbeat()` ends it.
 */
export function startHeartbeat(gateway: Gateway, exchange: Exchange): void {
  const beat = exchange.inspection!.streamed ? exchange.lane!.heartbeat(exchange.match!) : null
  if (beat === null || exchange.hasHeartbeat) return
  const interval = gateway.settings.heartbeatMs
  const deadline = new Deadline(() => {
    const silentSince = exchange.lastWriteAt
    const now = performance.now()
    if (now - silentSince >= interval && exchange.betweenEvents) {
      openStream(gateway, exchange)
      exchange.output!.add(beat)
      exchange.output!.flush()
      exchange.lastWriteAt = now
    }
    deadline.at = exchange.lastWriteAt + interval
  })
  exchange.lastWriteAt = performance.now()
  deadline.at = exchange.lastWriteAt + interval
  gateway.deadlines.add(deadline)
  exchange.beginHeartbeat(() => gateway.deadlines.remove(deadline))
}

/** Gives the stream its head before any provider has answered; from here on a failure can only be an event in it. */
function openStream(gateway: Gateway, exchange: Exchange): void {
  if (exchange.response.headersSent) return
  exchange.opened = true
  exchange.response.writeHead(200, [
    ...ownAnswerHeaders(gateway, exchange),
    'content-type',
    'text/event-stream; charset=utf-8',
    'cache-control',
    'no-cache',
    'x-accel-buffering',
    'no',
  ])
  exchange.output = new AnswerBody(exchange.response)
}
