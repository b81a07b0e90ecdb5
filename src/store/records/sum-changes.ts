import type { RecordRow } from '../schema.ts'
import { durationStep } from './duration-counts.ts'
import { firstBytePlace } from './latency-blob.ts'
import {
  hourOf,
  nanoOfUsd,
  type SumAmounts,
  type SumKey,
  type SumSpan,
  spansOf,
  sumAmounts,
} from './record-sum-keys.ts'

/** Of a record as it is stored, what it adds to the sums. */
export const summedColumns = [
  'id',
  'time',
  'state',
  'label',
  'status',
  'error_code',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'usd',
  'duration_ms',
  'first_byte_ms',
] as const satisfies (keyof RecordRow)[]

export type SummedRecord = Pick<RecordRow, (typeof summedColumns)[number]>

/** What records that come and go change in one row of sums. */
export interface SumChange extends SumAmounts {
  key: SumKey
  /** By place (`latency-blob.ts`): how many more, or fewer. */
  latencies: Map<number, number>
}

/** Gathers what records change in the sums: a batch has many of the same hour and label. */
export class SumChanges {
  readonly #hours = new Map<string, SumChange>()

  /** A record that comes (`sign` 1), or goes (-1). What has not ended is in no sum. */
  add(record: SummedRecord, sign: 1 | -1): void {
    if (record.state === 'admitted') return
    const { time, label, state, status, error_code, usd, duration_ms, first_byte_ms } = record
    const hour = hourOf(time)
    const name = `${hour}\n${label}\n${state}\n${status}\n${error_code}`
    let change = this.#hours.get(name)
    if (change === undefined) {
      const key: SumKey = ['hour', hour, label, state, status ?? 0, error_code ?? '']
      change = noChange(key)
      this.#hours.set(name, change)
    }
    change.requests += sign
    for (const column of tokenColumns) change[column] += sign * (record[column] ?? 0)
    if (usd !== null) {
      change.usd_nano += sign * nanoOfUsd(usd)
      change.priced += sign
    }
    if (duration_ms !== null) addCount(change.latencies, durationStep(duration_ms), sign)
    if (first_byte_ms !== null) addCount(change.latencies, firstBytePlace(durationStep(first_byte_ms)), sign)
  }

  /** What was gathered: hours, and the days and weeks that they make. From then on nothing is. */
  take(): SumChange[] {
    if (this.#hours.size === 0) return []
    const hours = [...this.#hours.values()]
    this.#hours.clear()
    const longer = new Map<string, SumChange>()
    for (const change of hours) {
      const { day, week } = spansOf(change.key[1])
      addUp(longer, 'day', day, change)
      addUp(longer, 'week', week, change)
    }
    return [...hours, ...longer.values()]
  }

  clear(): void {
    this.#hours.clear()
  }
}

const tokenColumns = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const

function noChange(key: SumKey): SumChange {
  const amounts = { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
  return { key, ...amounts, usd_nano: 0, priced: 0, latencies: new Map() }
}

function addUp(longer: Map<string, SumChange>, span: SumSpan, start: string, hour: SumChange): void {
  const [, , ...rest] = hour.key
  const key: SumKey = [span, start, ...rest]
  const name = key.join('\n')
  const sum = longer.get(name) ?? noChange(key)
  longer.set(name, sum)
  for (const amount of sumAmounts) sum[amount] += hour[amount]
  for (const [place, count] of hour.latencies) addCount(sum.latencies, place, count)
}

function addCount(counts: Map<number, number>, place: number, count: number): void {
  counts.set(place, (counts.get(place) ?? 0) + count)
}
