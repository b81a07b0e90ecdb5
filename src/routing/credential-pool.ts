/** Larger pools are rejected when they are configured. */
export const poolLimit = 64

/** No credential cools down for longer: a later time was set by a clock that has been set back since, and no longer holds. */
const longestCooldownMs = 5 * 60_000

/** Words that a pool takes in its row: whose turn it is, and until when each credential is cooling down. */
export const poolWords = 1 + poolLimit
/** What a credential's word holds: until when, and whether that is because its account is out of quota. */
const wordOf = (until: number, exhausted: boolean): number => Math.ceil(until) * 2 + Number(exhausted)
const untilOf = (word: bigint): number => Math.floor(Number(word) / 2)
const isExhausted = (word: bigint): boolean => (word & 1n) === 1n

/**
 * Which credential of each provider is next, and which are cooling down, shared by all threads. `count` is the size of the pool,
 * at least 1. A credential keeps its index for as long as its provider's revision is active.
 */
export class CredentialPool {
  readonly #words: BigInt64Array
  readonly #rowWords: number
  readonly #offset: number

  constructor(words: BigInt64Array, rowWords: number, offset: number) {
    this.#words = words
    this.#rowWords = rowWords
    this.#offset = offset
  }

  /** The next in turn that is not cooling down; of those the one whose rank is lowest, 0 at once. */
  pick(row: number, size: number, now: number, rankOf: (index: number) => number): number | null {
    const count = Math.min(size, poolLimit)
    const turn = Atomics.add(this.#words, this.#at(row, 0), 1n)
    const first = Number(BigInt.asUintN(32, turn)) % count
    let best: number | null = null
    let least = Number.POSITIVE_INFINITY
    for (let step = 0; step < count; step++) {
      const index = (first + step) % count
      if (this.isCoolingDown(row, index, now)) continue
      const rank = rankOf(index)
      if (rank === 0) return index
      if (rank < least) [best, least] = [index, rank]
    }
    return best
  }

  isCoolingDown(row: number, index: number, now: number): boolean {
    return endsAfter(this.#until(row, index), now, longestCooldownMs)
  }

  /** When the first credential is available again, in epoch milliseconds; null: one is available now. `exhausted`: all wait for quota. */
  cooldown(row: number, count: number, now: number): { until: number; exhausted: boolean } | null {
    const cooldown = { until: Number.POSITIVE_INFINITY, exhausted: true }
    for (let index = 0; index < Math.min(count, poolLimit); index++) {
      const word = Atomics.load(this.#words, this.#at(row, 1 + index))
      const until = untilOf(word)
      if (!endsAfter(until, now, longestCooldownMs)) return null
      cooldown.until = Math.min(cooldown.until, until)
      cooldown.exhausted &&= isExhausted(word)
    }
    return cooldown
  }

  /** Never shortens a cooldown: another thread may have been asked to wait longer. */
  coolDown(row: number, index: number, until: number, exhausted: boolean): void {
    raise(this.#words, this.#at(row, 1 + index), wordOf(until, exhausted), 2 * longestCooldownMs)
  }

  clear(row: number): void {
    for (let index = 0; index < poolLimit; index++) Atomics.store(this.#words, this.#at(row, 1 + index), 0n)
  }

  #until(row: number, index: number): number {
    return untilOf(Atomics.load(this.#words, this.#at(row, 1 + index)))
  }

  #at(row: number, column: number): number {
    return row * this.#rowWords + this.#offset + column
  }
}

/** Whether a wait that is never longer than `longestMs` goes on: one that seems longer was begun before the clock was set back. */
export function endsAfter(until: number, now: number, longestMs: number): boolean {
  return until > now && until - now <= longestMs
}

/**
 * Never shortens what stands there, since another thread may have been asked to wait longer; but what stands there by more than
 * `longest` later is of a clock that has been set back.
 */
export function raise(words: BigInt64Array, place: number, until: number, longest: number): void {
  const wanted = BigInt(Math.ceil(until))
  for (;;) {
    const found = Atomics.load(words, place)
    if (found >= wanted && found - wanted <= BigInt(longest)) return
    if (Atomics.compareExchange(words, place, found, wanted) === found) return
  }
}
