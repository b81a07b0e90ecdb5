import { usdOfNano } from '../../core/money.ts'
import type { RecordSums } from '../api.ts'
import { DurationCounts, durationSteps } from './duration-counts.ts'
import { readLatencies } from './latency-blob.ts'
import { type CountedRow, isError } from './record-groups.ts'
import type { ScannedRow } from './record-scan.ts'
import { nanoOfUsd } from './record-sum-keys.ts'
import type { SumRow } from './sum-scan.ts'

const tokenColumns = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const

/** Adds records and sums of records up. */
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
    /** Of a dollar: whole, so that records and their sums come to the same. */
    nano: null as number | null,
  }
  readonly #durations = new DurationCounts()
  readonly #firstBytes = new DurationCounts()

  add(row: CountedRow): void {
    if ('requests' in row) this.#addSum(row)
    else this.#addRecord(row)
  }

  finish(): RecordSums {
    const { nano, ...sums } = this.#sums
    const [duration50, duration95, duration99] = this.#durations.percentiles([0.5, 0.95, 0.99])
    const [firstByte50, firstByte95] = this.#firstBytes.percentiles([0.5, 0.95])
    return {
      ...sums,
      usd: nano === null ? null : usdOfNano(BigInt(nano)),
      duration_p50_ms: duration50,
      duration_p95_ms: duration95,
      duration_p99_ms: duration99,
      first_byte_p50_ms: firstByte50,
      first_byte_p95_ms: firstByte95,
    }
  }

  #addRecord(row: ScannedRow): void {
    const sums = this.#sums
    sums.requests++
    if (isError(row)) sums.errors++
    if (row.state === 'interrupted') {
      sums.interrupted++
      sums.interrupted_tokens += (row.input ?? 0) + (row.output ?? 0)
    }
    // What is under way has its hold on the record; only an end makes it a charge.
    if (row.state !== 'admitted') for (const column of tokenColumns) sums[column] += row[column] ?? 0
    if (row.usd !== null) sums.nano = (sums.nano ?? 0) + nanoOfUsd(row.usd)
    if (row.duration_ms !== null) this.#durations.add(row.duration_ms)
    if (row.first_byte_ms !== null) this.#firstBytes.add(row.first_byte_ms)
  }

  #addSum(row: SumRow): void {
    const sums = this.#sums
    sums.requests += row.requests
    if (isError(row)) sums.errors += row.requests
    if (row.state === 'interrupted') {
      sums.interrupted += row.requests
      sums.interrupted_tokens += row.input + row.output
    }
    for (const column of tokenColumns) sums[column] += row[column]
    if (row.priced > 0) sums.nano = (sums.nano ?? 0) + row.usd_nano
    if (row.latencies === null) return
    readLatencies(row.latencies, (place, count) => {
      if (place < durationSteps) this.#durations.addStep(place, count)
      else this.#firstBytes.addStep(place - durationSteps, count)
    })
  }
}
