/** So many rows of a stream are kept: an hour of a busy tail, some megabytes. */
const mostRows = 2000
/**
 * The rows of a stream, newest first. While held, what comes gathers aside, so that nothing moves under the reader's eyes.
 */
export class RowStream {
  /** Oldest first, so that one more costs nothing. */
  #rows: unknown[] = []
  #heldBack: unknown[] = []
  #dropped = 0
  #filter: (row: unknown) => boolean = () => true
  #shown: unknown[] | null = null
  /** Of what was there before the stream began to be read. */
  #seeded = new Set<string>()
  /** Of what stood here when it was last begun anew. */
  #before = new Set<string>()
  held = false

  /** The stream is read anew. What is here now stood before, and is no news that its seed does not know yet. */
  begin(): void {
    this.#before = idsOf(this.#rows)
  }

  /** What was there already, newest first; asked for while the stream ran, so that a row may have come by both ways. */
  seed(rows: readonly unknown[]): void {
    this.#seeded = idsOf(rows)
    this.#heldBack = this.#heldBack.filter((row) => !this.#isSeeded(row))
    const first = this.#rows.findIndex((row) => this.#isSeeded(row))
    const overlaps = first >= 0 && this.#wasBefore(this.#rows[first])
    if (this.held && overlaps) this.#heldBack = [...this.#unknown(rows), ...this.#heldBack]
    else if (rows.length > 0) this.#join(rows, overlaps ? first : null)
    this.#shown = null
  }

  #unknown(rows: readonly unknown[]): unknown[] {
    const known = idsOf(this.#rows)
    return rows.filter((row) => !known.has(idOf(row) ?? '')).toReversed()
  }

  /**
   * From the `first` row on that the seed has too, those that it does not have came since, or are not stored yet. Without
   * one, nobody knows what lies between, and what stood before goes.
   */
  #join(rows: readonly unknown[], first: number | null): void {
    const older = first === null ? [] : this.#rows.slice(0, first)
    const others = this.#rows.slice(first ?? 0).filter((row) => !this.#isSeeded(row))
    const since = first === null ? others.filter((row) => !this.#wasBefore(row)) : others
    this.#rows = [...older, ...rows.toReversed(), ...since].slice(-mostRows)
  }

  #wasBefore(row: unknown): boolean {
    const id = idOf(row)
    return id !== null && this.#before.has(id)
  }

  #isSeeded(row: unknown): boolean {
    const id = idOf(row)
    return id !== null && this.#seeded.has(id)
  }

  addRow(row: unknown): void {
    if (this.#isSeeded(row)) return this.#replace(row)
    const into = this.held ? this.#heldBack : this.#rows
    into.push(row)
    // Cut in pieces: shifting one off a long list for each that comes is work for each.
    if (into.length > mostRows * 1.25) {
      const cut = into.length - mostRows
      into.splice(0, cut)
      if (this.held) this.#dropped += cut
    }
    if (!this.held) this.#shown = null
  }

  /** The seed may have caught a request in progress; the stream tells how it ended. */
  #replace(row: unknown): void {
    const id = idOf(row)
    for (const rows of [this.#rows, this.#heldBack]) {
      const index = rows.findLastIndex((one) => idOf(one) === id)
      if (index >= 0) rows[index] = row
    }
    this.#shown = null
  }

  /** How many came while held. */
  get waiting(): number {
    return this.#heldBack.length + this.#dropped
  }

  release(): void {
    this.held = false
    if (this.waiting === 0) return
    this.#rows = [...this.#rows, ...this.#heldBack].slice(-mostRows)
    this.#heldBack = []
    this.#dropped = 0
    this.#shown = null
  }

  setFilter(filter: (row: unknown) => boolean): void {
    this.#filter = filter
    this.#shown = null
  }

  clear(): void {
    this.#seeded = new Set()
    this.#before = new Set()
    this.#rows = []
    this.#heldBack = []
    this.#dropped = 0
    this.#shown = null
  }

  get kept(): number {
    return this.#rows.length
  }

  get rows(): readonly unknown[] {
    this.#shown ??= this.#rows.filter(this.#filter).reverse()
    return this.#shown
  }
}

function idsOf(rows: readonly unknown[]): Set<string> {
  return new Set(rows.flatMap((row) => idOf(row) ?? []))
}

/** Null: it has none. */
export function idOf(row: unknown): string | null {
  const id = typeof row === 'object' && row !== null ? Reflect.get(row, 'id') : undefined
  return typeof id === 'string' ? id : null
}
