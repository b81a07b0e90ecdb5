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

  /** Nearest rank: for each share the least duration that so many do not exceed. Null without any. Shares ascend. */
  percentiles<const Shares extends readonly number[]>(shares: Shares): { [Index in keyof Shares]: number | null } {
    const sorted = Float64Array.from(this.#counts.keys()).sort()
    let place = -1
    let seen = 0
    const found = shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * this.#total))
      while (seen < rank && place + 1 < sorted.length) seen += this.#counts.get(sorted[++place] ?? 0) ?? 0
      return sorted[place] ?? null
    })
    return found as { [Index in keyof Shares]: number | null }
  }
}

function round(milliseconds: number): number {
  const whole = Math.round(milliseconds)
  if (whole < 10_000) return whole
  const step = 10 ** (Math.floor(Math.log10(whole)) - 3)
  return Math.round(whole / step) * step
}
