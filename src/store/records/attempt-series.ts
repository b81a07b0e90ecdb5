import type { AttemptQuestion, AttemptSeries, RecordFilter } from '../api.ts'
import { AttemptAdder, attemptsOf } from './record-attempts.ts'
import { RecordClock } from './record-clock.ts'
import type { RecordSource } from './record-source.ts'

/** Attempts step by step, by the time of their request: also those of requests that another provider answered. */
export async function attemptSeries(
  source: RecordSource,
  filter: RecordFilter,
  { provider, from, stepMs, steps }: AttemptQuestion,
): Promise<AttemptSeries> {
  const newLine = () => Array.from({ length: steps }, () => new AttemptAdder())
  const all = newLine()
  const byProvider = new Map<string, AttemptAdder[]>()
  const clock = new RecordClock()
  for await (const { rows, labels } of source.records(filter, false))
    for (const row of rows) {
      const plain = { provider: labels.get(row.label)?.provider ?? null, model: '' }
      // Nearly every record: the time of one at another provider need not be read.
      if (provider !== null && row.attempts_json === null && plain.provider !== provider) continue
      const step = Math.floor((clock.read(row.time) - from) / stepMs)
      for (const figure of attemptsOf(row, plain)) {
        if (provider !== null && figure.provider !== provider) continue
        const line = byProvider.getOrInsertComputed(figure.provider, newLine)
        all[step]?.add(figure)
        line[step]?.add(figure)
      }
    }
  const finish = (line: readonly AttemptAdder[]) =>
    line.map(({ counts, durations }, step) => {
      const [duration_p50_ms, duration_p95_ms] = durations.percentiles([0.5, 0.95])
      return { time: new Date(from + step * stepMs).toISOString(), ...counts, duration_p50_ms, duration_p95_ms }
    })
  const names = [...byProvider].sort(([one], [other]) => (one < other ? -1 : 1))
  return { points: finish(all), providers: names.map(([name, line]) => ({ provider: name, points: finish(line) })) }
}
