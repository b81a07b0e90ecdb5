import { Breaker, type BreakerEntry, breakerWords } from './breaker.ts'
import { RowTable, rowId } from './row-table.ts'

/** As many callers with failures of their own are told apart; the one whose failures are oldest gives way. */
export const callerRows = 4096
/** An id, what its breaker belongs to, when it failed last; then its breaker. */
const head = 3
export const callerWords = head + breakerWords
/** Nothing that a caller's breaker knows matters longer: its longest pause and the window of its counts. */
const rememberedMs = 330_000

/** How a call got past a breaker that is shared, and past its caller's own. */
export interface Passage {
  shared: BreakerEntry
  /** null: its caller has none. */
  own: BreakerEntry | null
  ownRow: number
}

/** Past breakers that are closed. */
export const plain: Passage = Object.freeze({ shared: 'pass', own: null, ownRow: -1 })

export type Outcome = 'success' | 'failure' | 'neutral'

/** What an outcome set off: the breaker opened for all, or for the one whose calls fail. */
export type Trip = 'all' | 'caller' | null

/**
 * Shared breakers, one a row, and behind each of them one for every caller whose calls failed there lately: failures of one caller
 * alone open its own, and the shared one opens when they come from several. Source: contract.md rule 23.
 */
export class CallerBreakers {
  readonly shared: Breaker
  readonly #own: Breaker
  readonly #callers: RowTable
  readonly #words: BigInt64Array
  readonly #ownOffset: number
  readonly #keyed: (row: number) => number
  readonly #number: number

  /**
   * `keyed` is where a row keeps the moment until which callers may have breakers of their own; `number` tells the rows of these
   * breakers from those of others that share the callers' rows.
   */
  constructor(
    words: BigInt64Array,
    parts: {
      shared: { rowWords: number; offset: number; rows: number }
      keyed: (row: number) => number
      number: number
      ownOffset: number
    },
    thread: number | null,
  ) {
    const { ownOffset } = parts
    const own = { rowWords: callerWords, offset: ownOffset, rows: callerRows }
    this.#words = words
    this.#ownOffset = ownOffset
    this.#keyed = parts.keyed
    this.#number = parts.number
    this.shared = new Breaker(words, parts.shared, thread)
    this.#own = new Breaker(words, { ...own, offset: ownOffset + head }, thread)
    this.#callers = new RowTable(words, own)
  }

  /** Until when this caller's calls are kept away; 0: they are not. */
  pausedUntil(row: number, caller: string | null, now: number): number {
    const own = this.#findOwn(row, caller, now)
    if (own < 0) return 0
    const { phase, until } = this.#own.state(own, now)
    return phase === 'open' || phase === 'probing' ? until : 0
  }

  /** `caller` null: failures count for all. */
  enter(row: number, caller: string | null, now: number, mayProbe: boolean): Passage | null {
    const ownRow = this.#findOwn(row, caller, now)
    const own = ownRow < 0 ? null : this.#own.enter(ownRow, now, mayProbe)
    if (ownRow >= 0 && own === null) return null
    const shared = this.shared.enter(row, now, mayProbe)
    if (shared === null) {
      if (own !== null) this.#own.abandon(ownRow, own)
      return null
    }
    return shared === 'pass' && ownRow < 0 ? plain : { shared, own, ownRow }
  }

  settle(row: number, passage: Passage, outcome: Outcome, caller: string | null, now: number, cause: number): Trip {
    if (outcome === 'failure') return this.#fail(row, passage, caller, now, cause)
    if (outcome === 'success') {
      this.shared.recordSuccess(row, passage.shared, now)
      const own = this.#findOwn(row, caller, now)
      if (own >= 0) this.#own.recordSuccess(own, passage.ownRow === own ? (passage.own ?? 'pass') : 'pass', now)
    } else this.abandon(row, passage)
    return null
  }

  abandon(row: number, { shared, own, ownRow }: Passage): void {
    this.shared.abandon(row, shared)
    if (own !== null) this.#own.abandon(ownRow, own)
  }

  abandonAll(thread: number): void {
    this.shared.abandonAll(thread)
    this.#own.abandonAll(thread)
  }

  /** Forgets all that is known of the row, of every caller. */
  close(row: number): void {
    this.shared.close(row)
    const owner = this.#ownerOf(row)
    for (let own = 0; own < callerRows; own++)
      if (Atomics.load(this.#words, this.#at(own, 1)) === owner) this.#own.close(own)
    Atomics.store(this.#words, this.#keyed(row), 0n)
  }

  #fail(row: number, passage: Passage, caller: string | null, now: number, cause: number): Trip {
    if (caller === null) return this.shared.recordFailure(row, passage.shared, now, null, cause) ? 'all' : null
    const ownRow = this.#claimOwn(row, caller, now)
    const entry = passage.ownRow === ownRow ? (passage.own ?? 'pass') : 'pass'
    const opened = this.#own.recordFailure(ownRow, entry, now, null, cause)
    // Of a caller whose calls have failed before, a failed probe says nothing of the others' calls.
    if (passage.shared !== 'pass' && entry !== 'pass') this.shared.abandon(row, passage.shared)
    else if (this.shared.recordFailure(row, passage.shared, now, rowId(0, caller), cause)) return 'all'
    return opened ? 'caller' : null
  }

  #findOwn(row: number, caller: string | null, now: number): number {
    const until = caller === null ? 0n : Atomics.load(this.#words, this.#keyed(row))
    // As nearly always: no call of a single caller has failed lately.
    if (caller === null || until === 0n || until <= BigInt(Math.floor(now))) return -1
    return this.#callers.find(rowId(Number(this.#ownerOf(row)), caller))
  }

  #claimOwn(row: number, caller: string, now: number): number {
    const owner = this.#ownerOf(row)
    const ageOf = (each: number) => Atomics.load(this.#words, this.#at(each, 2))
    const { row: own, replaced } = this.#callers.claimOldest(rowId(Number(owner), caller), ageOf)
    const moment = BigInt(Math.floor(now))
    // What is left of another caller, or of this one from long ago, no longer counts.
    if (replaced || ageOf(own) + BigInt(rememberedMs) < moment) this.#own.close(own)
    Atomics.store(this.#words, this.#at(own, 1), owner)
    Atomics.store(this.#words, this.#at(own, 2), moment)
    Atomics.store(this.#words, this.#keyed(row), moment + BigInt(rememberedMs))
    return own
  }

  #ownerOf(row: number): bigint {
    return BigInt(row * 2 + this.#number + 1)
  }

  #at(own: number, column: number): number {
    return this.#ownOffset + own * callerWords + column
  }
}
