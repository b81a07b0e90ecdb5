/** Lists that are remembered at once. An older list is read to its end instead. */
const kept = 1000

/**
 * How many items of a list follow an item, as counted when the list began. Without it, only asking the provider for everything that follows
 * would show that a page is the last one, and a shared account may have very many items.
 */
export class ListEnds {
  readonly #remaining = new Map<string, number>()

  remember(item: string, rest: number): void {
    this.#remaining.delete(item)
    this.#remaining.set(item, rest)
    const [oldest] = this.#remaining.keys()
    if (this.#remaining.size > kept && oldest !== undefined) this.#remaining.delete(oldest)
  }

  /** Null: unknown, or no longer remembered. */
  behind(item: string): number | null {
    return this.#remaining.get(item) ?? null
  }
}
