/** So many lists are remembered at once; an older one is asked to its end. */
const kept = 1000

/**
 * How much of a list is still to come behind an item, as it was counted when the list began. Without that the last page of
 * a list could only be told by asking the provider for all that follows, which on a shared account may be a lot.
 */
export class ListEnds {
  readonly #rests = new Map<string, number>()

  remember(item: string, rest: number): void {
    this.#rests.delete(item)
    this.#rests.set(item, rest)
    const [oldest] = this.#rests.keys()
    if (this.#rests.size > kept && oldest !== undefined) this.#rests.delete(oldest)
  }

  /** Null: not known, or no more. */
  behind(item: string): number | null {
    return this.#rests.get(item) ?? null
  }
}
