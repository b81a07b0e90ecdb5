/** So many lists are remembered at once; an older one is asked to its end. */
const kept = 1000

/**
 * How much of a list is still to come behind an item, as it was counted when the list began. Without that the last page of
 * a list could only be told by asking the provider for all that follows, which on a shared account may be a lot.
 */
export class ListEnds {
  readonly #remaining = new Map<string, number>()

  remember(item: string, rest: number): void {
    this.#remaining.delete(item)
    this.#remaining.set(item, rest)
    const [oldest] = this.#remaining.keys()
    if (this.#remaining.size > kept && oldest !== undefined) this.#remaining.delete(oldest)
  }

  /** Null: not known, or no more. */
  behind(item: string): number | null {
    return this.#remaining.get(item) ?? null
  }
}
