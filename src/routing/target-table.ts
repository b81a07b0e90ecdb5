import type { BreakerPlace } from './breaker.ts'
import { RowTable, rowId } from './row-table.ts'

/** What a call goes to. */
export interface HealthTarget {
  slot: number
  /** The provider's name for it; '' where the call names none. */
  model: string
  /** Of a name behind a pattern: the pattern, whose row it shares until it has succeeded once. */
  pattern: string | null
}

/**
 * The row of each (provider, model) pair. A name behind a pattern shares the pattern's row until it has succeeded once, so that
 * names that clients make up take no rows.
 */
export class TargetTable {
  readonly #words: BigInt64Array
  readonly #place: BreakerPlace
  readonly #table: RowTable
  readonly #onTarget: (slot: number, model: string) => void
  /** Rows that this thread has met, by slot and name; never more than there are. */
  readonly #known = new Map<number, Map<string, number>>()

  constructor(words: BigInt64Array, place: BreakerPlace, onTarget: (slot: number, model: string) => void) {
    this.#words = words
    this.#place = place
    this.#table = new RowTable(words, place)
    this.#onTarget = onTarget
  }

  /** -1: nothing is known of it yet. */
  find({ slot, model, pattern }: HealthTarget): number {
    const own = this.#find(slot, model)
    return own >= 0 || pattern === null ? own : this.#find(slot, pattern)
  }

  /** -1: every row is taken, and nothing is remembered of this pair. */
  claim({ slot, model, pattern }: HealthTarget): number {
    const own = this.#find(slot, model)
    return own >= 0 ? own : this.#claim(slot, pattern ?? model)
  }

  /** From now on the name has a row of its own. */
  part({ slot, model, pattern }: HealthTarget): void {
    if (pattern !== null && this.#find(slot, model) < 0) this.#claim(slot, model)
  }

  *rowsOf(slot: number): Iterable<number> {
    const owner = BigInt(slot + 1)
    for (let row = 0; row < this.#place.rows; row++)
      if (Atomics.load(this.#words, this.#slotAt(row)) === owner) yield row
  }

  #find(slot: number, name: string): number {
    const known = this.#known.get(slot)?.get(name)
    if (known !== undefined) return known
    const row = this.#table.find(rowId(slot, name))
    return row < 0 ? row : this.#remember(slot, name, row)
  }

  #claim(slot: number, name: string): number {
    const known = this.#find(slot, name)
    if (known >= 0) return known
    const row = this.#table.claim(rowId(slot, name))
    if (row < 0) return row
    const owner = BigInt(slot + 1)
    if (Atomics.exchange(this.#words, this.#slotAt(row), owner) !== owner) this.#onTarget(slot, name)
    return this.#remember(slot, name, row)
  }

  #remember(slot: number, name: string, row: number): number {
    const known = this.#known.get(slot)
    if (known === undefined) this.#known.set(slot, new Map([[name, row]]))
    else known.set(name, row)
    return row
  }

  #slotAt(row: number): number {
    return this.#place.offset + row * this.#place.rowWords + 1
  }
}
