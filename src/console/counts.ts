import { type Sample, writeValue } from './exposition.ts'

/** Values of one label beyond this many, and values longer than this, are told as `other`: what clients send must not grow the memory. */
const valueLimit = 200
const lengthLimit = 200

/** The values of a label that have been seen, as many as are told apart. */
export class LabelValues {
  readonly #seen = new Set<string>()

  /** Absent is the empty value, which Prometheus takes for no label at all. */
  name(value: string | null): string {
    if (value === null || this.#seen.has(value)) return value ?? ''
    if (this.#seen.size >= valueLimit || value.length > lengthLimit) return 'other'
    this.#seen.add(value)
    return value
  }
}

/** A counter by its labels. */
export class Counts {
  readonly #samples = new Map<string, { labels: Record<string, string>; value: number }>()

  add(labels: Record<string, string>, amount = 1): void {
    const key = JSON.stringify(Object.values(labels))
    const found = this.#samples.get(key)
    if (found === undefined) this.#samples.set(key, { labels, value: amount })
    else found.value += amount
  }

  samples(): Sample[] {
    return [...this.#samples.values()]
  }
}

/** Upper bounds in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Durations by lane, in buckets. */
export class Durations {
  readonly #byLane = new Map<string, { counts: number[]; sum: number }>()

  observe(lane: string, milliseconds: number): void {
    const seconds = milliseconds / 1000
    const found = this.#byLane.get(lane) ?? { counts: bounds.map(() => 0).concat(0), sum: 0 }
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    const index = bucket === -1 ? bounds.length : bucket
    found.counts[index] = (found.counts[index] ?? 0) + 1
    found.sum += seconds
    this.#byLane.set(lane, found)
  }

  samples(): (Sample & { suffix: string })[] {
    return [...this.#byLane].flatMap(([lane, { counts, sum }]) => {
      let below = 0
      const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
        below += counts[index] ?? 0
        return { suffix: '_bucket', labels: { lane, le: writeValue(bound) }, value: below }
      })
      return [
        ...buckets,
        { suffix: '_sum', labels: { lane }, value: sum },
        { suffix: '_count', labels: { lane }, value: below },
      ]
    })
  }
}
