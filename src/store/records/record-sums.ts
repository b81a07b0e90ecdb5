import { roundUsd } from '../../core/money.ts'
import type { RecordSums } from '../api.ts'
import { DurationCounts } from './duration-counts.ts'
import { isError } from './record-groups.ts'
import type { ScannedRow } from './record-scan.ts'

const tokenColumns = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const

/** Adds records up. Percentiles are exact below ten seconds, and off by less than a thousandth above. */
export class RecordAdder {
  readonly #sums = {
    requests: 0,
    errors: 0,
    interrupted: 0,
    interrupted_tokens: 0,
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    usd: null as number | null,
  }
  readonly #durations = new DurationCounts()
  readonly #firstBytes = new DurationCounts()

  add(row: ScannedRow): void {
    const sums = this.#sums
    sums.requests++
    if (isError(row)) sums.errors++
    if (row.state === 'interrupted') {
      sums.interrupted++
      sums.interrupted_tokens += (row.input ?? 0) + (row.output ?? 0)
    }
    // What is under way has its hold on the record; only an end makes it a charge.
    if (row.state !== 'admitted') for (const column of tokenColumns) sums[column] += row[column] ?? 0
    if (row.usd !== null) sums.usd = (sums.usd ?? 0) + row.usd
    if (row.duration_ms !== null) this.#durations.add(row.duration_ms)
    if (row.first_byte_ms !== null) this.#firstBytes.add(row.first_byte_ms)
  }

  finish(): RecordSums {
    const { usd } = this.#sums
    const [duration50, duration95, duration99] = this.#durations.percentiles([0.5, 0.95, 0.99])
    const [firstByte50, firstByte95] = this.#firstBytes.percentiles([0.5, 0.95])
    return {
      ...this.#sums,
      usd: usd === null ? null : roundUsd(usd),
      duration_p50_ms: duration50,
      duration_p95_ms: duration95,
      duration_p99_ms: duration99,
      first_byte_p50_ms: firstByte50,
      first_byte_p95_ms: firstByte95,
    }
  }
}
