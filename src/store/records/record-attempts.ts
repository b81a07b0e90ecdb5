import { type AttemptCounts, type AttemptFigure, countAttempt } from '../../core/attempt-figures.ts'
import type { AttemptSums, ProviderAttempts, RecordFilter } from '../api.ts'
import { DurationCounts } from './duration-counts.ts'
import type { RecordSource, ScannedRow } from './record-source.ts'

/** Attempts by provider. `limit` and `before` do not apply. */
export async function recordAttempts(source: RecordSource, filter: RecordFilter): Promise<ProviderAttempts[]> {
  const groups = new Map<string, AttemptAdder>()
  for await (const { rows, labels } of source.records(filter, false))
    for (const row of rows) {
      const plain = { provider: labels.get(row.label)?.provider ?? null, model: '' }
      for (const figure of attemptsOf(row, plain)) {
        groups.getOrInsertComputed(figure.provider, () => new AttemptAdder()).add(figure)
      }
    }
  return [...groups].map(([provider, adder]) => ({ provider, ...adder.finish() }))
}

/** `plain` is where the one attempt went of a record that tells of none. */
export function attemptsOf(row: ScannedRow, plain: { provider: string | null; model: string }): AttemptFigure[] {
  if (row.attempts_json !== null) return JSON.parse(row.attempts_json) as AttemptFigure[]
  const { provider, model } = plain
  if (provider === null || row.state === 'admitted') return []
  return [{ provider, model, outcome: 'answered', duration: row.duration_ms, firstByte: row.first_byte_ms }]
}

export class AttemptAdder {
  readonly counts: AttemptCounts = { tried: 0, failed: 0, fell_back: 0 }
  readonly durations = new DurationCounts()
  readonly #firstBytes = new DurationCounts()

  add({ outcome, duration, firstByte }: AttemptFigure): void {
    countAttempt(this.counts, outcome)
    if (duration !== null) this.durations.add(duration)
    if (firstByte !== null) this.#firstBytes.add(firstByte)
  }

  finish(): AttemptSums {
    const [duration_p95_ms] = this.durations.percentiles([0.95])
    const [first_byte_p50_ms] = this.#firstBytes.percentiles([0.5])
    return { ...this.counts, duration_p95_ms, first_byte_p50_ms }
  }
}
