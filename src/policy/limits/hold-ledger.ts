/**
 * What each thread holds, in shared memory, so that it can be released if the thread dies. Each thread has a column of entries with two
 * words: the counter's index (negative: a budget) and the amount. Windows have no entries: what was booked in them expires by itself.
 */
const capacity = 1 << 16
const entryWords = 2
/** Words before the entries: the number of entries ever used, and the index of a period that is being opened. */
const columnHead = 2
const columnWords = columnHead + capacity * entryWords

export const ledgerBytes = (columns: number): number => columns * columnWords * BigInt64Array.BYTES_PER_ELEMENT

export class HoldLedger {
  readonly #words: BigInt64Array
  readonly #column: number
  readonly #free: number[] = []

  /** `column` is the caller's own; only it writes there while it lives. */
  constructor(buffer: SharedArrayBuffer, column: number) {
    this.#words = new BigInt64Array(buffer)
    this.#column = column * columnWords
  }

  /** Null: the ledger is full. */
  open(place: number, amount: bigint): number | null {
    const entry = this.#free.pop() ?? this.#more()
    if (entry === null) return null
    Atomics.store(this.#words, entry + 1, amount)
    Atomics.store(this.#words, entry, BigInt(place))
    return entry
  }

  /** What all threads hold, each with its place. For a recount: other threads change it meanwhile. */
  *held(): Iterable<[place: number, amount: bigint]> {
    for (let start = 0; start < this.#words.length; start += columnWords) {
      const used = Number(Atomics.load(this.#words, start))
      for (let index = 0; index < used; index++) {
        const entry = start + columnHead + index * entryWords
        yield [Number(Atomics.load(this.#words, entry)), Atomics.load(this.#words, entry + 1)]
      }
    }
  }

  /** 0: no claim. */
  claiming(place: number): void {
    Atomics.store(this.#words, this.#column + 1, BigInt(place))
  }

  /** The last claim of a dead thread; resets it to 0. */
  takeClaim(column: number): number {
    return Number(Atomics.exchange(this.#words, column * columnWords + 1, 0n))
  }

  change(entry: number, amount: bigint): void {
    Atomics.store(this.#words, entry + 1, amount)
  }

  close(entry: number): void {
    Atomics.store(this.#words, entry, 0n)
    this.#free.push(entry)
  }

  /** Removes all holds of a dead thread, and reports each. Never for a running one: it would release the same holds again. */
  takeAll(column: number, each: (place: number, amount: bigint) => void): void {
    const start = column * columnWords
    const used = Number(Atomics.exchange(this.#words, start, 0n))
    for (let index = 0; index < used; index++) {
      const entry = start + columnHead + index * entryWords
      const place = Atomics.exchange(this.#words, entry, 0n)
      if (place !== 0n) each(Number(place), Atomics.load(this.#words, entry + 1))
    }
  }

  #more(): number | null {
    const used = Number(Atomics.load(this.#words, this.#column))
    if (used === capacity) return null
    Atomics.store(this.#words, this.#column, BigInt(used + 1))
    return this.#column + columnHead + used * entryWords
  }
}
