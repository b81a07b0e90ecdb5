import { type Fault, fault } from '../core/errors.ts'
import { type Counters, heldBytes } from '../policy/counters.ts'

/** Bodies up to here are held whatever the room: nobody's large ones keep everybody's small ones out. */
const freeBytes = 64 * 1024
/** Room is taken by such steps, so that a chunk costs a comparison. */
const stepBytes = 1024 * 1024
const comeBackMs = 2000

/** Whoever holds bytes. */
export interface Holder {
  /** Bytes of the room that it has taken. */
  roomTaken: number
}

/** What bodies that must be held take of the gateway's memory, those of all its threads together. docs/decisions/0040. */
export class BodyRoom {
  readonly #counters: Counters
  readonly #limit: () => number

  constructor(counters: Counters, limit: () => number) {
    this.#counters = counters
    this.#limit = limit
  }

  /** Whether so many bytes would find room now; takes none. */
  has(bytes: number): boolean {
    return bytes <= freeBytes || this.#counters.read(heldBytes) + bytes <= this.#limit()
  }

  /** Takes what `holder` needs to hold so many bytes in all; false where there is no room. */
  cover(holder: Holder, bytes: number): boolean {
    if (bytes <= freeBytes || bytes <= holder.roomTaken) return true
    const limit = this.#limit()
    // The last step may not be whole: what is as large as the limit finds room as well.
    const wanted = Math.max(bytes, Math.min(Math.ceil(bytes / stepBytes) * stepBytes, limit))
    if (!this.#counters.reserve(heldBytes, wanted - holder.roomTaken, limit).granted) return false
    holder.roomTaken = wanted
    return true
  }

  release(holder: Holder): void {
    if (holder.roomTaken === 0) return
    this.#counters.settle(heldBytes, holder.roomTaken, 0)
    holder.roomTaken = 0
  }
}

export function noRoom(): Fault {
  const message =
    'The gateway holds as many large bodies as its memory is meant for (gateway.held_limit). Try again in a moment.'
  return fault('overloaded', message, { retryAfterMs: comeBackMs })
}
