import type { TrafficTally } from '../core/traffic-tally.ts'
import { Counts, Durations, LabelValues } from './counts.ts'
import type { Family } from './exposition.ts'

/** What has been served since the start: what the store thread adds up as it stores records, off the data plane. */
export class TrafficMetrics {
  readonly #providers = new LabelValues()
  readonly #models = new LabelValues()
  readonly #records = new Counts()
  readonly #errors = new Counts()
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
