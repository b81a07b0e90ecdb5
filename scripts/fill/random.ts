/** The same numbers for the same seed, so that two fillings look alike. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }

  pickWeighted<Item extends { weight: number }>(items: readonly Item[]): Item {
    let rest = this.next() * items.reduce((sum, { weight }) => sum + weight, 0)
    for (const item of items) {
      rest -= item.weight
      if (rest < 0) return item
    }
    return this.pick(items)
  }

  /** Around the median, with the long tail that sizes and latencies have. */
  around(median: number, spread = 0.5): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
    return median * Math.exp(normal * spread)
  }
}
