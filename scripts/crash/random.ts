/** Decisions that a seed repeats. Moments are not repeated with it: they hang on the machine. */
export interface Random {
  /** 0 ≤ x < 1 */
  next(): number
  /** A whole number, `low` ≤ x < `high`. */
  between(low: number, high: number): number
  chance(share: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** By weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name
}

/** mulberry32: 32 bits of state, and good enough to choose a moment by. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low))
  return {
    next,
    between,
    chance: (share) => next() < share,
    pick(items) {
      const item = items[between(0, items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    weighted(weights) {
      const entries = Object.entries(weights) as [keyof typeof weights, number][]
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      const found = entries.find(([, weight]) => {
        left -= weight
        return left < 0
      })
      if (found === undefined) throw new Error('no weights')
      return found[0]
    },
  }
}
