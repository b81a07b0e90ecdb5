import type { StreamEvent, StreamFramer } from '../../src/core/bytes/stream-event.ts'

/** Feeds the bytes in pieces of the given sizes, over and over; the rest is the last event. */
export function frame(framer: StreamFramer, bytes: Buffer, sizes: readonly number[]): StreamEvent[] {
  const events: StreamEvent[] = []
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    // A copy, as the network gives: events must not lean on neighbouring memory.
    events.push(...framer.push(Buffer.from(bytes.subarray(at, at + size))))
    at += size
  }
  const rest = framer.rest()
  if (rest !== null) events.push(rest)
  return events
}

export function joined(events: readonly StreamEvent[]): string {
  return Buffer.concat(events.map((event) => event.bytes)).toString('utf8')
}
