import { usdOfNano } from '../../core/cost/money.ts'
import type { RecordSums } from '../api.ts'
import type { RecordLabelsRow } from '../schema.ts'
import { DurationCounts } from './duration-counts.ts'
import { addLatencies } from './latency-blob.ts'
import { tokenColumns } from './record-columns.ts'
import { type CountedRow, countOf, isError, spentNano } from './record-groups.ts'
import type { SumRow } from './record-source.ts'

/** Adds records and sums of records up. */
export class RecordAdder {
  readonly #sums = {
    requests: 0,
    shadows: 0,
    errors: 0,
    interrupted: 0,
    interrupted_tokens: 0,
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    /** Of a dollar: whole, so that records and their sums come to the same. */
    nano: null as number | null,
  }
  readonly #durations = new DurationCounts()
  readonly #firstBytes = new DurationCounts()

  /** A copy for a shadow target, or sums of such, is spent, and no client asked or waited for it. */
  add(row: CountedRow, label: RecordLabelsRow | undefined): void {
    const count = countOf(row)
    this.#addSpent(row)
    if (label?.shadow === 1) this.#sums.shadows += count
    else this.#addAsked(row, count, label)
  }

  finish(): RecordSums {
    const { nano, ...sums } = this.#sums
    const usd = nano === null ? null : usdOfNano(BigInt(nano))
    const [duration_p50_ms, duration_p95_ms, duration_p99_ms] = this.#durations.percentiles([0.5, 0.95, 0.99])
    const [first_byte_p50_ms, first_byte_p95_ms] = this.#firstBytes.percentiles([0.5, 0.95])
    return { ...sums, usd, duration_p50_ms, duration_p95_ms, duration_p99_ms, first_byte_p50_ms, first_byte_p95_ms }
  }

  #addSpent(row: CountedRow): void {
    const sums = this.#sums
    // What is under way has its hold on the record; only an end makes it a charge.
    if (row.state !== 'admitted') for (const column of tokenColumns) sums[column] += row[column] ?? 0
    if (row.state === 'interrupted') sums.interrupted_tokens += (row.input ?? 0) + (row.output ?? 0)
    const nano = spentNano(row)
    if (nano !== null) sums.nano = (sums.nano ?? 0) + nano
  }

  #addAsked(row: CountedRow, count: number, label: RecordLabelsRow | undefined): void {
    const sums = this.#sums
    sums.requests += count
    if (isError(row)) sums.errors += count
    if (row.state === 'interrupted') sums.interrupted += count
    // What was rejected before a provider was asked took a millisecond: a refused crowd would hide that all others wait.
    if (isError(row) && label?.provider == null) return
    if ('requests' in row) this.#addLatencies(row)
    else {
      if (row.duration_ms !== null) this.#durations.add(row.duration_ms)
      if (row.first_byte_ms !== null) this.#firstBytes.add(row.first_byte_ms)
    }
  }

  #addLatencies({ latencies, fewer = null }: SumRow): void {
    if (latencies !== null) addLatencies(latencies, 1, this.#durations, this.#firstBytes)
    if (fewer !== null) addLatencies(fewer, -1, this.#durations, this.#firstBytes)
  }
}
