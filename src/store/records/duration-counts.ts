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
  /** By step: instead of a few. */
  #many: Float64Array | null = null

  add(milliseconds: number): void {
    this.addStep(durationStep(milliseconds), 1)
  }

  addStep(step: number, count: number): void {
    if (this.#many !== null) this.#many[step] = (this.#many[step] ?? 0) + count
    else if (this.#few.set(step, (this.#few.get(step) ?? 0) + count).size > sparse) this.#spread()
  }

  /** By step, for whoever adds thousands; null: they are too few. */
  get many(): Float64Array | null {
    return this.#many
  }

  #spread(): void {
    this.#many = new Float64Array(durationSteps)
    for (const [step, count] of this.#few) this.#many[step] = count
    this.#few.clear()
  }

  /** Nearest rank: for each share the least duration that so many do not exceed. Null without any. Shares ascend. */
  percentiles<const Shares extends readonly number[]>(shares: Shares): { [Index in keyof Shares]: number | null } {
    const { steps, counts } = this.#inOrder()
    let total = 0
    for (const count of counts) total += count
    let place = -1
    let seen = 0
    const found = shares.map((share) => {
      const rank = Math.max(1, Math.ceil(share * total))
      while (seen < rank && place + 1 < counts.length) seen += counts[++place] ?? 0
      return seen === 0 ? null : middleOf(steps === null ? place : (steps[place] ?? 0))
    })
    return found as { [Index in keyof Shares]: number | null }
  }

  /** `steps` null: each count stands at its step. */
  #inOrder(): { steps: readonly number[] | null; counts: readonly number[] | Float64Array } {
    if (this.#many !== null) return { steps: null, counts: this.#many }
    const sorted = [...this.#few].sort(([one], [other]) => one - other)
    return { steps: sorted.map(([step]) => step), counts: sorted.map(([, count]) => count) }
  }
}
