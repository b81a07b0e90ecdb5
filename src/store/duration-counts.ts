/**
 * Percentiles of any number of durations in bounded memory: milliseconds are counted by their first four digits, so a
 * figure is exact below ten seconds and off by less than a thousandth above.
 */
export class DurationCounts {
  readonly #counts = new Map<number, number>()
  #total = 0

  add(milliseconds: number): void {
    const rounded = round(milliseconds)
    this.#counts.set(rounded, (this.#counts.get(rounded) ?? 0) + 1)
    this.#total++
  }

  /** Nearest rank: the least duration that `share` of all do not exceed. Null without any. */
  percentile(share: number): number | null {
    const rank = Math.max(1, Math.ceil(share * this.#total))
    let seen = 0
    for (const [milliseconds, count] of [...this.#counts].sort(([left], [right]) => left - right)) {
      seen += count
      if (seen >= rank) return milliseconds
    }
    return null
  }
}

function round(milliseconds: number): number {
  const whole = Math.round(milliseconds)
  if (whole < 10_000) return whole
  const step = 10 ** (Math.floor(Math.log10(whole)) - 3)
  return Math.round(whole / step) * step
}
