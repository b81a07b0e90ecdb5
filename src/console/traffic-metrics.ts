import { type DurationTally, durationBounds, type Exemplar, type TrafficTally } from '../core/traffic-tally.ts'
import { type Family, type Sample, writeValue } from './exposition.ts'

/** More values of a label than this, and longer ones, are counted as `other`, so that clients cannot fill the memory. */
const valueLimit = 200
const lengthLimit = 200

/** The values seen of one label, up to the limit. */
class LabelValues {
  readonly #seen = new Set<string>()

  /** null becomes the empty value, which Prometheus treats as no label. */
  name(value: string | null): string {
    if (value === null || this.#seen.has(value)) return value ?? ''
    if (this.#seen.size >= valueLimit || value.length > lengthLimit) return 'other'
    this.#seen.add(value)
    return value
  }
}

/** A counter by its labels. */
class Counts {
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
class Durations {
  readonly #byLane = new Map<string, { counts: number[]; sum: number; exemplars: Map<number, Exemplar> }>()

  add({ lane, counts, sum, exemplars }: DurationTally): void {
    const found = this.#byLane.get(lane)
    if (found === undefined) this.#byLane.set(lane, { counts: [...counts], sum, exemplars: new Map(exemplars) })
    else {
      for (const [bucket, exemplar] of exemplars) found.exemplars.set(bucket, exemplar)
      found.counts = found.counts.map((count, bucket) => count + (counts[bucket] ?? 0))
      found.sum += sum
    }
  }

  samples(): (Sample & { suffix: string })[] {
    return [...this.#byLane].flatMap(([lane, { counts, sum, exemplars }]) => {
      let below = 0
      const buckets = [...durationBounds, Number.POSITIVE_INFINITY].map((bound, index) => {
        below += counts[index] ?? 0
        const labels = { lane, le: writeValue(bound) }
        return { suffix: '_bucket', labels, value: below, exemplar: exemplars.get(index) }
      })
      return [
        ...buckets,
        { suffix: '_sum', labels: { lane }, value: sum },
        { suffix: '_count', labels: { lane }, value: below },
      ]
    })
  }
}

/** Traffic since the start. The store thread sums it up while it stores records, off the data plane. */
export class TrafficMetrics {
  readonly #providers = new LabelValues()
  readonly #models = new LabelValues()
  readonly #records = new Counts()
  readonly #errors = new Counts()
  readonly #attempts = new Counts()
  readonly #tokens = new Counts()
  readonly #durations = new Durations()
  readonly #firstBytes = new Durations()

  add(tally: TrafficTally): void {
    for (const { lane, status, provider: name, model: wanted, count, tokens } of tally.served) {
      const provider = this.#providers.name(name)
      this.#records.add({ lane, provider, status }, count)
      const kinds = (['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const).filter(
        (kind) => tokens[kind] > 0,
      )
      if (kinds.length === 0) continue
      const model = this.#models.name(wanted)
      for (const kind of kinds) this.#tokens.add({ provider, model, kind }, tokens[kind])
    }
    for (const { provider, model, outcome, count } of tally.attempts)
      this.#attempts.add({ provider: this.#providers.name(provider), model: this.#models.name(model), outcome }, count)
    for (const { code, origin, count } of tally.errors) this.#errors.add({ code, origin }, count)
    for (const each of tally.durations) this.#durations.add(each)
    for (const each of tally.firstBytes) this.#firstBytes.add(each)
  }

  families(): Family[] {
    return [
      {
        name: 'spgw_records_total',
        type: 'counter',
        help: 'Settled request records since the start, by lane, serving provider and class of status.',
        samples: this.#records.samples(),
      },
      {
        name: 'spgw_attempts_total',
        type: 'counter',
        help: "Attempts at providers since the start, by provider, the provider's model name, and outcome: answered, failed, fell_back (failed, and another target was tried) or aborted (the client left).",
        samples: this.#attempts.samples(),
      },
      {
        name: 'spgw_errors_total',
        type: 'counter',
        help: 'Settled request records that ended in an error, by code and origin.',
        samples: this.#errors.samples(),
      },
      {
        name: 'spgw_tokens_total',
        type: 'counter',
        help: "Tokens by provider, the provider's model name, and kind. Input includes cached tokens, output includes reasoning.",
        samples: this.#tokens.samples(),
      },
      {
        name: 'spgw_request_duration_seconds',
        type: 'histogram',
        help: 'Time from receiving a request to its end, by lane.',
        samples: this.#durations.samples(),
      },
      {
        name: 'spgw_first_byte_seconds',
        type: 'histogram',
        help: 'Time from receiving a request to the first byte of its streamed response, by lane.',
        samples: this.#firstBytes.samples(),
      },
    ]
  }
}
