import type { RequestRecord } from '../core/record.ts'
import { Counts, Durations, LabelValues } from './counts.ts'
import type { Family } from './exposition.ts'

/** What has been served since the start, counted from records as they are ingested, off the data plane. */
export class TrafficMetrics {
  readonly #providers = new LabelValues()
  readonly #models = new LabelValues()
  readonly #records = new Counts()
  readonly #errors = new Counts()
  readonly #tokens = new Counts()
  readonly #durations = new Durations()
  readonly #firstBytes = new Durations()

  /** A record is reported when it is admitted and again when it settles; only the second counts. */
  count(records: readonly RequestRecord[]): void {
    for (const record of records) if (record.state === 'settled') this.#count(record)
  }

  #count(record: RequestRecord): void {
    const lane = record.lane ?? ''
    const provider = this.#providers.name(record.provider)
    const status = record.status === null ? '' : `${Math.floor(record.status / 100)}xx`
    this.#records.add({ lane, provider, status })
    if (record.error !== null) this.#errors.add({ code: record.error.code, origin: record.error.origin })
    if (record.duration_ms !== null) this.#durations.observe(lane, record.duration_ms)
    if (record.first_byte_ms !== null) this.#firstBytes.observe(lane, record.first_byte_ms)
    if (record.tokens === null) return
    const model = this.#models.name(record.upstream_model ?? record.model)
    for (const kind of ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const)
      if (record.tokens[kind] > 0) this.#tokens.add({ provider, model, kind }, record.tokens[kind])
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
        name: 'spgw_errors_total',
        type: 'counter',
        help: 'Settled request records that ended in an error, by its code and whose fault it was.',
        samples: this.#errors.samples(),
      },
      {
        name: 'spgw_tokens_total',
        type: 'counter',
        help: "Tokens by provider, the provider's name of the model, and kind; input holds cached tokens, output holds reasoning.",
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
        help: 'Time from receiving a request to the first byte of its answer, by lane.',
        samples: this.#firstBytes.samples(),
      },
    ]
  }
}
