import type { Call } from '../request/call.ts'
import { Deadline } from '../thread/deadlines.ts'
import { ownAnswerHeaders } from './respond.ts'

/**
 * Keeps a silent stream alive if the lane's SDKs can handle it (wire/streaming.md section 0). After each interval without a byte it opens
 * the stream, if it is not open yet, and sends the lane's keep-alive event, never inside an event. `reply.keepAlive.stop()` ends it.
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

/** Sends the head of the stream before any provider has answered. From now on a failure can only be sent as an event. */
function openStream({ arrival }: Call): void {
  if (arrival.response.headersSent) return
  arrival.reply.opened = true
  arrival.response.writeHead(200, [...ownAnswerHeaders(arrival), ...streamHead])
}
