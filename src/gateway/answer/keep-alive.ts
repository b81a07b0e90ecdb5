import type { Call } from '../request/call.ts'
import { Deadline } from '../thread/deadlines.ts'
import { ownAnswerHeaders } from './respond.ts'

/**
 * Keeps a silent stream alive where the lane's SDKs bear it (wire/streaming.md section 0): after each interval without
 * a byte the stream is opened, if it was not yet, and gets the lane's keep-alive event. Never inside an event.
 * `reply.keepAlive.stop()` ends it.
 */
export function startKeepAlive(call: Call): void {
  const { gateway, arrival } = call
  const { reply } = arrival
  const event = call.lane.keepAlive(call.match)
  if (event === null || reply.keepAlive !== null) return
  const interval = gateway.settings.keepAliveMs
  const deadline = new Deadline(() => {
    const now = performance.now()
    if (now - reply.lastWriteAt >= interval && reply.betweenEvents) {
      openStream(call)
      reply.body.add(event)
      reply.body.flush()
      reply.lastWriteAt = now
    }
    deadline.at = reply.lastWriteAt + interval
  })
  reply.lastWriteAt = performance.now()
  deadline.at = reply.lastWriteAt + interval
  gateway.deadlines.add(deadline)
  reply.keepAlive = { stop: () => gateway.deadlines.remove(deadline) }
}

const streamHead = [
  ...['content-type', 'text/event-stream; charset=utf-8'],
  ...['cache-control', 'no-cache'],
  ...['x-accel-buffering', 'no'],
]

/** Gives the stream its head before any provider has answered; from here on a failure can only be an event in it. */
function openStream({ arrival }: Call): void {
  if (arrival.response.headersSent) return
  arrival.reply.opened = true
  arrival.response.writeHead(200, [...ownAnswerHeaders(arrival), ...streamHead])
}
