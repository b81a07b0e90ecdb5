import { bucketMs } from './call.ts'

/** How far two clocks may drift apart, including slewing. */
const drift = 0.0002
/** A larger difference means that a clock was set. */
const jumpMs = 1000

/** Epoch milliseconds between which the server's clock is. */
export interface TimeSpan {
  low: number
  high: number
}

/** The server's time as far as it can be known: between the time in the last reply, and that plus the round trip. */
export class ServerClock {
  #at: number
  #span: TimeSpan

  /** Until the first reply it is this node's own time. */
  constructor(now: number) {
    this.#at = now
    this.#span = { low: now, high: now }
  }

  span(now: number): TimeSpan {
    const { low, high } = this.#span
    const passed = now - this.#at
    return { low: low + passed * (1 - drift), high: high + passed * (1 + drift) }
  }

  /** The bucket that contains the whole span; null: it may be one of two. */
  bucket(now: number): number | null {
    const { low, high } = this.span(now)
    const bucket = Math.floor(low / bucketMs)
    return Math.floor(high / bucketMs) === bucket ? bucket : null
  }

  /** Narrows the span with a reply. False: the server's clock was set. */
  hear(time: number, sentAt: number, now: number): boolean {
    const heard = heardSpan(time, sentAt, now)
    const known = this.span(now)
    if (heard.low > known.high + jumpMs || heard.high < known.low - jumpMs) return false
    const both = { low: Math.max(heard.low, known.low), high: Math.min(heard.high, known.high) }
    this.#set(both.low <= both.high ? both : heard, now)
    return true
  }

  /** Switches to another server's clock; returns by how much it may be ahead of the previous one. */
  change(time: number, sentAt: number, now: number): number {
    const heard = heardSpan(time, sentAt, now)
    const ahead = heard.high - this.span(now).low
    this.#set(heard, now)
    return ahead
  }

  #set(span: TimeSpan, now: number): void {
    this.#span = span
    this.#at = now
  }
}

/** A reply has whole milliseconds. */
function heardSpan(time: number, sentAt: number, now: number): TimeSpan {
  return { low: time, high: time + 1 + (now - sentAt) * (1 + drift) }
}
