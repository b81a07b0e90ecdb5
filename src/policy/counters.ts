/**
 * Counters with reservations in shared memory, on which all threads agree exactly: an amount is held before the work, and settled with what
 * was really used. A row has the amount used (held or spent) and one column for each thread with what that thread holds, so that the holds
 * of a dead thread can be released. Amounts are whole numbers (requests, tokens, micro-dollars) up to 2^53.
 */

/** Admitted requests that are not settled: of the whole gateway. A thread's own number is in its held column. */
export const requestsInFlight = 0
/** Requests settled since the start, including rejected ones; never held, only booked. */
export const requestsServed = 1
/** Threads that accept connections; each holds one. */
export const listeners = 2
/** Bytes of large bodies in memory. */
export const heldBytes = 3
/** Copies of answered requests that are in progress at shadow targets. */
export const shadowsInFlight = 4

type Reservation =
  | { granted: true }
  /** `room` is the largest amount that would have been granted, at least 0. */
  | { granted: false; room: number }

export interface Counters {
  /** Holds `amount` for this thread as long as the row stays within `limit`; `Infinity` only counts. */
  reserve(row: number, amount: number, limit: number): Reservation
  /** Releases a hold and books the actual amount. Called once for each granted reservation. */
  settle(row: number, held: number, actual: number): void
  /** Releases everything that a dead thread holds. Never for a running one: it would settle the same holds again. */
  reverseThread(thread: number): void
  /** The amount used: held and spent. */
  read(row: number): number
}

export interface CounterLayout {
  rows: number
  threads: number
}

export function createCounterMemory({ rows, threads }: CounterLayout): SharedArrayBuffer {
  return new SharedArrayBuffer(rows * (1 + threads) * BigInt64Array.BYTES_PER_ELEMENT)
}

const granted: Reservation = Object.freeze({ granted: true })

/** `thread` is the caller's own column; only it writes there while it lives. */
export function attachCounters(buffer: SharedArrayBuffer, layout: CounterLayout, thread: number): Counters {
  const words = new BigInt64Array(buffer)
  const used = (row: number) => row * (1 + layout.threads)
  const held = (row: number, holder: number) => used(row) + 1 + holder

  return {
    // A thread can be terminated between the two steps of `reserve` and of `settle`, but only at a function call or at the turn of a loop,
    // so there is neither between them. Should it happen all the same, their order leaves too much counted, never too little: a limit may
    // be reached early, but is never exceeded.
    reserve(row, amount, limit) {
      const taken = BigInt(amount)
      const own = held(row, thread)
      const room = take(words, used(row), taken, limit)
      if (room !== null) return { granted: false, room }
      Atomics.add(words, own, taken)
      return granted
    },
    settle(row, amount, actual) {
      const given = BigInt(amount)
      const rest = BigInt(actual - amount)
      const own = held(row, thread)
      const whole = used(row)
      Atomics.sub(words, own, given)
      Atomics.add(words, whole, rest)
    },
    reverseThread(dead) {
      for (let row = 0; row < layout.rows; row++) {
        const left = Atomics.exchange(words, held(row, dead), 0n)
        Atomics.sub(words, used(row), left)
      }
    },
    read: (row) => Number(Atomics.load(words, used(row))),
  }
}

/** Null: reserved; otherwise the room that is left. */
function take(words: BigInt64Array, index: number, amount: bigint, limit: number): number | null {
  if (limit === Number.POSITIVE_INFINITY) {
    Atomics.add(words, index, amount)
    return null
  }
  const most = BigInt(limit)
  for (;;) {
    const found = Atomics.load(words, index)
    if (found + amount > most) return Number(found < most ? most - found : 0n)
    if (Atomics.compareExchange(words, index, found, found + amount) === found) return null
  }
}
