import { type DurationTally, durationBounds } from '../core/traffic-tally.ts'
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

/** Durations by lane, in buckets. */
export class Durations {
  readonly #byLane = new Map<string, { counts: number[]; sum: number }>()

  add({ lane, counts, sum }: DurationTally): void {
    const found = this.#byLane.get(lane)
    if (found === undefined) this.#byLane.set(lane, { counts: [...counts], sum })
    else {
      found.counts = found.counts.map((count, bucket) => count + (counts[bucket] ?? 0))
      found.sum += sum
    }
  }

  samples(): (Sample & { suffix: string })[] {
    return [...this.#byLane].flatMap(([lane, { counts, sum }]) => {
      let below = 0
      const buckets = [...durationBounds, Number.POSITIVE_INFINITY].map((bound, index) => {
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
