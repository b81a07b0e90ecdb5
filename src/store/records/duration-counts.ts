/** Milliseconds below this have a step of their own; above, each doubling has half as many steps. */
const exactBelow = 256
const exactBits = Math.log2(exactBelow)
const stepsADoubling = exactBelow / 2
/** Three weeks: nothing takes longer. */
const longest = 2 ** 31 - 1
/** Of all that there are. */
export const durationSteps = durationStep(longest) + 1
/** With more than so many different ones an array is smaller and faster. */
const sparse = 64

/** Which step a duration counts in. */
export function durationStep(milliseconds: number): number {
  const whole = Math.min(longest, Math.max(0, Math.round(milliseconds)))
  if (whole < exactBelow) return whole
  const doubling = 31 - Math.clz32(whole)
  const shift = doubling - exactBits + 1
  return exactBelow + (doubling - exactBits) * stepsADoubling + (whole >> shift) - stepsADoubling
}

/** The middle of a step. */
function middleOf(step: number): number {
  if (step < exactBelow) return step
  const doubling = Math.floor((step - exactBelow) / stepsADoubling)
  const width = 2 ** (doubling + 1)
  return (((step - exactBelow) % stepsADoubling) + stepsADoubling) * width + width / 2 - 1
}

/**
 * Percentiles of any number of durations in bounded memory, and the same whether they come one by one or summed: exact to the
 * millisecond below 256 ms, off by less than half a percent above.
 */
export class DurationCounts {
  readonly #few = new Map<number, number>()
  /** By step, for those that were a few and all that come later. */
  #many: Float64Array | null = null

  add(milliseconds: number): void {
    this.addStep(durationStep(milliseconds), 1)
  }

  addStep(step: number, count: number): void {
    if (this.#many !== null) this.#many[step] = (this.#many[step] ?? 0) + count
    else if (this.#few.set(step, (this.#few.get(step) ?? 0) + count).size > sparse) this.#many = this.#spread()
  }

  /** By step, for whoever adds thousands. */
  spread(): Float64Array {
    this.#many ??= this.#spread()
    return this.#many
  }

  /**
   * Nearest rank: for each share the least duration that so many do not exceed. Null without any. Shares ascend. Statistics by day have
   * a thousand groups of three thousand steps each: no call for each step. By model they may have as many groups of one request as clients
   * have made up names: no array for those.
   */
  percentiles<const Shares extends readonly number[]>(shares: Shares): { [Index in keyof Shares]: number | null } {
    const found = this.#many === null ? this.#ofFew(shares) : this.#ofMany(this.#many, shares)
    return found as { [Index in keyof Shares]: number | null }
  }

  #ofFew(shares: readonly number[]): (number | null)[] {
    const steps = [...this.#few].sort(([one], [other]) => one - other)
    const total = steps.reduce((sum, [, count]) => sum + count, 0)
    let place = -1
    let seen = 0
    return shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * total))
      while (seen < rank && place + 1 < steps.length) seen += steps[++place]?.[1] ?? 0
      return seen === 0 ? null : middleOf(steps[place]?.[0] ?? 0)
    })
  }

  #ofMany(counts: Float64Array, shares: readonly number[]): (number | null)[] {
    let total = 0
    for (let each = 0; each < durationSteps; each++) total += counts[each] ?? 0
    const found: (number | null)[] = []
    let step = -1
    let seen = 0
    for (const share of shares) {
      const rank = Math.max(1, Math.ceil(share * total))
      while (seen < rank && step + 1 < durationSteps) seen += counts[++step] ?? 0
      found.push(seen === 0 ? null : middleOf(step))
    }
    return found
  }

  #spread(): Float64Array {
    const counts = new Float64Array(durationSteps)
    for (const [step, count] of this.#few) counts[step] = count
    return counts
  }
}
