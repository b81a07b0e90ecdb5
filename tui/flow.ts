/** So many rows of a stream are kept: an hour of a busy tail, some megabytes. */
const mostRows = 2000
/**
 * The rows of a stream, newest first. While held, what comes gathers aside, so that nothing moves under the reader's eyes.
 */
export class Flow {
  /** Oldest first, so that one more costs nothing. */
  #rows: unknown[] = []
  #aside: unknown[] = []
  #dropped = 0
  #sieve: (row: unknown) => boolean = () => true
  #shown: unknown[] | null = null
  /** Of what was there before the stream began to be read. */
  #seeded = new Set<string>()
  held = false

  /** What was there already, newest first; asked for while the stream ran, so that a row may have come by both ways. */
  seed(rows: readonly unknown[]): void {
    this.#seeded = new Set(rows.flatMap((row) => idOf(row) ?? []))
    const since = this.#rows.filter((row) => !this.#isSeeded(row))
    this.#rows = [...rows.toReversed(), ...since].slice(-mostRows)
    this.#shown = null
  }

  #isSeeded(row: unknown): boolean {
    const id = idOf(row)
    return id !== null && this.#seeded.has(id)
  }

  take(row: unknown): void {
    if (this.#isSeeded(row)) return
    const into = this.held ? this.#aside : this.#rows
    into.push(row)
    // Cut in pieces: shifting one off a long list for each that comes is work for each.
    if (into.length > mostRows * 1.25) {
      const cut = into.length - mostRows
      into.splice(0, cut)
      if (this.held) this.#dropped += cut
    }
    if (!this.held) this.#shown = null
  }

  /** How many came while held. */
  get waiting(): number {
    return this.#aside.length + this.#dropped
  }

  release(): void {
    this.held = false
    if (this.waiting === 0) return
    this.#rows = [...this.#rows, ...this.#aside].slice(-mostRows)
    this.#aside = []
    this.#dropped = 0
    this.#shown = null
  }

  sift(sieve: (row: unknown) => boolean): void {
    this.#sieve = sieve
    this.#shown = null
  }

  clear(): void {
    this.#seeded = new Set()
    this.#rows = []
    this.#aside = []
    this.#dropped = 0
    this.#shown = null
  }

  get kept(): number {
    return this.#rows.length
  }

  get rows(): readonly unknown[] {
    this.#shown ??= this.#rows.filter(this.#sieve).reverse()
    return this.#shown
  }
}

function idOf(row: unknown): string | null {
  const id = typeof row === 'object' && row !== null ? Reflect.get(row, 'id') : undefined
  return typeof id === 'string' ? id : null
}
