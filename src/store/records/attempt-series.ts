import { sql } from 'kysely'
import { isFailedAttempt } from '../../core/attempt-outcome.ts'
import type { AttemptRecord, RequestRecord } from '../../core/record.ts'
import type { AttemptPoint, AttemptQuestion, RecordFilter } from '../api.ts'
import type { Database } from '../schema.ts'
import { DurationCounts } from './duration-counts.ts'
import { RecordClock } from './record-clock.ts'
import { recordWindows, selectMatching } from './record-filter.ts'
import { chooseLabels } from './record-labels.ts'

/**
 * The attempts at one provider, step by step, by the time of their request: also those of requests that another provider
 * answered. The text of a record is read only where it names the provider.
 */
export async function attemptSeries(
  db: Database,
  filter: RecordFilter,
  { provider, from, stepMs, steps }: AttemptQuestion,
): Promise<AttemptPoint[]> {
  const adders = Array.from({ length: steps }, () => new StepAttempts())
  const clock = new RecordClock()
  const named = `"provider":${JSON.stringify(provider)}`
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return finish(adders, from, stepMs)
  for await (const window of recordWindows(db, unpaged, chosen)) {
    const rows = await selectMatching(db, unpaged, chosen, window)
      .where(sql<boolean>`instr(record_json, ${named}) > 0`)
      .select(['time', sql<string | null>`json_extract(record_json, '$.attempts')`.as('attempts')])
      .select(sql<string | null>`json_extract(record_json, '$.error')`.as('error'))
      .execute()
    for (const { time, attempts, error } of rows) {
      const adder = adders[Math.floor((clock.read(time) - from) / stepMs)]
      if (adder === undefined || attempts === null) continue
      const all: AttemptRecord[] = JSON.parse(attempts)
      const ended: RequestRecord['error'] = error === null ? null : JSON.parse(error)
      for (const attempt of all) if (attempt.provider === provider) adder.add(attempt, ended)
    }
  }
  return finish(adders, from, stepMs)
}

function finish(adders: readonly StepAttempts[], from: number, stepMs: number): AttemptPoint[] {
  return adders.map((adder, step) => ({ time: new Date(from + step * stepMs).toISOString(), ...adder.finish() }))
}

class StepAttempts {
  #tried = 0
  #failed = 0
  #fellBack = 0
  readonly #durations = new DurationCounts()

  add(attempt: AttemptRecord, error: RequestRecord['error']): void {
    this.#tried++
    if (isFailedAttempt(attempt, error)) this.#failed++
    if (attempt.outcome === 'fallback') this.#fellBack++
    if (attempt.ended_ms !== null) this.#durations.add(attempt.ended_ms - attempt.started_ms)
  }

  finish(): Omit<AttemptPoint, 'time'> {
    const [p50, p95] = this.#durations.percentiles([0.5, 0.95])
    return {
      tried: this.#tried,
      failed: this.#failed,
      fell_back: this.#fellBack,
      duration_p50_ms: p50,
      duration_p95_ms: p95,
    }
  }
}
