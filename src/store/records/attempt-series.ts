import { type AttemptCounts, type AttemptFigure, countAttempt } from '../../core/attempt-figures.ts'
import type { AttemptPoint, AttemptQuestion, AttemptSeries, RecordFilter } from '../api.ts'
import { DurationCounts } from './duration-counts.ts'
import { attemptsOf } from './record-attempts.ts'
import { RecordClock } from './record-clock.ts'
import type { RecordSource } from './record-source.ts'

/** Attempts step by step, by the time of their request: also those of requests that another provider answered. */
export async function attemptSeries(
  source: RecordSource,
  filter: RecordFilter,
  { provider, from, stepMs, steps }: AttemptQuestion,
): Promise<AttemptSeries> {
  const newLine = () => Array.from({ length: steps }, () => new StepAttempts())
  const all = newLine()
  const byProvider = new Map<string, StepAttempts[]>()
  const clock = new RecordClock()
  for await (const { rows, labels } of source.records(filter, false))
    for (const row of rows) {
      const plain = { provider: labels.get(row.label)?.provider ?? null, model: '' }
      // Nearly every record: the time of one at another provider need not be read.
      if (provider !== null && row.attempts_json === null && plain.provider !== provider) continue
      const step = Math.floor((clock.read(row.time) - from) / stepMs)
      for (const figure of attemptsOf(row, plain)) {
        if (provider !== null && figure.provider !== provider) continue
        const line = byProvider.get(figure.provider) ?? newLine()
        byProvider.set(figure.provider, line)
        all[step]?.add(figure)
        line[step]?.add(figure)
      }
    }
  const finish = (line: readonly StepAttempts[]) =>
    line.map((adder, step) => ({ time: new Date(from + step * stepMs).toISOString(), ...adder.finish() }))
  const names = [...byProvider].sort(([one], [other]) => (one < other ? -1 : 1))
  return { points: finish(all), providers: names.map(([name, line]) => ({ provider: name, points: finish(line) })) }
}

class StepAttempts {
  readonly #counts: AttemptCounts = { tried: 0, failed: 0, fell_back: 0 }
  readonly #durations = new DurationCounts()

  add({ outcome, duration }: AttemptFigure): void {
    countAttempt(this.#counts, outcome)
    if (duration !== null) this.#durations.add(duration)
  }

  finish(): Omit<AttemptPoint, 'time'> {
    const [p50, p95] = this.#durations.percentiles([0.5, 0.95])
    return { ...this.#counts, duration_p50_ms: p50, duration_p95_ms: p95 }
  }
}
