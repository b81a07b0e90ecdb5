import { type Fault, fault } from '../../core/errors.ts'
import { type Counters, heldBytes } from '../../policy/counters.ts'

/** Bodies up to this size are always held: large bodies never keep small ones out. */
export const freeBytes = 64 * 1024
/** Memory is reserved in steps of this size, so that a chunk costs only a comparison. */
const stepBytes = 1024 * 1024
const retryAfterMs = 2000

/** One body, message or answer that is held in memory. */
export interface MemoryHolder {
  /** Bytes of the budget that it has reserved. */
  reserved: number
}

/** The memory that bodies may take while they are held, for all threads of the gateway together (decision 0040). */
export class MemoryBudget {
  readonly #counters: Counters
  readonly #limit: () => number

  constructor(counters: Counters, limit: () => number) {
    this.#counters = counters
    this.#limit = limit
  }

  /** Whether that many bytes could be reserved now; reserves none. */
  hasRoomFor(bytes: number): boolean {
    return bytes <= freeBytes || this.#counters.read(heldBytes) + bytes <= this.#limit()
  }

  /** Reserves what `holder` needs to hold `bytes` in total; false if the budget is used up. */
  reserve(holder: MemoryHolder, bytes: number): boolean {
    if (bytes <= freeBytes || bytes <= holder.reserved) return true
    const limit = this.#limit()
    // The last step may not be whole: a body as large as the limit fits as well.
    const wanted = Math.max(bytes, Math.min(Math.ceil(bytes / stepBytes) * stepBytes, limit))
    if (!this.#counters.reserve(heldBytes, wanted - holder.reserved, limit).granted) return false
    holder.reserved = wanted
    return true
  }

  release(holder: MemoryHolder): void {
    if (holder.reserved === 0) return
    this.#counters.settle(heldBytes, holder.reserved, 0)
    holder.reserved = 0
  }
}

export function outOfMemory(): Fault {
  const message =
    'The gateway holds as many large bodies as its memory is meant for (gateway.held_limit). Try again in a moment.'
  return fault('overloaded', message, { retryAfterMs })
}
