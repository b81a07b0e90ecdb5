import { nanoOfUsd } from '../../core/cost/money.ts'
import type { RecordRow } from '../schema.ts'
import { durationStep } from './duration-counts.ts'
import { firstBytePlace } from './latency-blob.ts'
import { countedColumns, tokenColumns } from './record-columns.ts'
import { dayOf, hourOf, type SumAmounts, type SumKey, type SumSpan, spansOf, sumAmounts } from './record-sum-keys.ts'

/** Of a record as it is stored, what it adds to the sums. */
export const summedColumns = ['id', ...countedColumns] as const satisfies (keyof RecordRow)[]

export type SummedRecord = Pick<RecordRow, (typeof summedColumns)[number]>

/** What records that come and go change in one row of sums. */
export interface SumChange extends SumAmounts {
  key: SumKey
  /** '': none is told apart. */
  tag: string
  /** By place (`latency-blob.ts`): how many more, or fewer. */
  latencies: Map<number, number>
}

/** Gathers what records change in the sums: a batch has many of the same hour and label. */
export class SumChanges {
  readonly #changes = new Map<string, SumChange>()
  readonly #shortest: 'hour' | 'day'

  /** `shortest`: from what span on there are sums. */
  constructor(shortest: 'hour' | 'day') {
    this.#shortest = shortest
  }

  /** A record that comes (`sign` 1), or goes (-1). What has not ended is in no sum. */
  add(record: SummedRecord, sign: 1 | -1, tag = ''): void {
    if (record.state === 'admitted') return
    const { time, label, state, status, error_code, usd, duration_ms, first_byte_ms } = record
    const start = this.#shortest === 'hour' ? hourOf(time) : dayOf(time)
    // The tag is a client's own text: so it comes last.
    const name = `${start}\n${label}\n${state}\n${status}\n${error_code}\n${tag}`
    const change = this.#changes.getOrInsertComputed(name, () =>
      noChange([this.#shortest, start, label, state, status ?? 0, error_code ?? ''], tag),
    )
    change.requests += sign
    for (const column of tokenColumns) change[column] += sign * (record[column] ?? 0)
    if (usd !== null) {
      change.usd_nano += sign * nanoOfUsd(usd)
      change.priced += sign
    }
    if (duration_ms !== null) addCount(change.latencies, durationStep(duration_ms), sign)
    if (first_byte_ms !== null) addCount(change.latencies, firstBytePlace(durationStep(first_byte_ms)), sign)
  }

  /** What was gathered: the shortest spans, and the longer ones that they make. From then on nothing is. */
  take(): SumChange[] {
    if (this.#changes.size === 0) return []
    const changes = [...this.#changes.values()]
    this.#changes.clear()
    const longer = new Map<string, SumChange>()
    for (const change of changes) {
      const { day, week } = spansOf(change.key[1])
      if (this.#shortest === 'hour') addUp(longer, 'day', day, change)
      addUp(longer, 'week', week, change)
    }
    return [...changes, ...longer.values()]
  }

  clear(): void {
    this.#changes.clear()
  }
}

function noChange(key: SumKey, tag: string): SumChange {
  const amounts = { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
  return { key, tag, ...amounts, usd_nano: 0, priced: 0, latencies: new Map() }
}

function addUp(longer: Map<string, SumChange>, span: SumSpan, start: string, part: SumChange): void {
  const [, , ...rest] = part.key
  const key: SumKey = [span, start, ...rest]
  const name = `${key.join('\n')}\n${part.tag}`
  const sum = longer.getOrInsertComputed(name, () => noChange(key, part.tag))
  for (const amount of sumAmounts) sum[amount] += part[amount]
  for (const [place, count] of part.latencies) addCount(sum.latencies, place, count)
}

function addCount(counts: Map<number, number>, place: number, count: number): void {
  counts.set(place, (counts.get(place) ?? 0) + count)
}
