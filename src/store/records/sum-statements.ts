import type { Database, Statement } from 'better-sqlite3'
import type { RecordRow, RecordSumRow } from '../schema.ts'
import { durationStep } from './duration-counts.ts'
import { changeLatencies, firstBytePlace } from './latency-blob.ts'
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

interface Change extends SumAmounts {
  key: SumKey
  latencies: Map<number, number>
}

/**
 * Records read in one slice of what is summed afterwards: some ten milliseconds. In fewer, each of their hours, labels and outcomes is
 * written anew for a handful of records: with 1,000 a record costs three times as much.
 */
const sliceRecords = 4000
type Values = (string | number | Buffer)[]

/**
 * Keeps the sums in the transaction that changes the records. Changes are gathered, and written once a transaction: a batch has many
 * records of the same hour and label.
 */
export class SumStatements {
  readonly #changes = new Map<string, Change>()
  #summedFrom: string | null = null
  readonly #state: Statement<[], { summed_from: string }>
  readonly #setState: Statement<[string]>
  readonly #older: Statement<[string, number], SummedRecord>
  readonly #add: Statement<Values, Pick<RecordSumRow, 'requests'>>
  readonly #remove: Statement<Values>
  readonly #latencies: Statement<Values, { counts: Buffer }>
  readonly #setLatencies: Statement<Values>
  readonly #removeLatencies: Statement<Values>

  constructor(sqlite: Database) {
    const key = 'span, start, label, state, status, error_code'
    const isKey = 'span = ? and start = ? and label = ? and state = ? and status = ? and error_code = ?'
    this.#state = sqlite.prepare('select summed_from from record_sum_state')
    this.#setState = sqlite.prepare('update record_sum_state set summed_from = ?')
    this.#older = sqlite.prepare(`select ${summedColumns} from records where id < ? order by id desc limit ?`)
    const sums = sumAmounts.map((name) => `${name} = record_sums.${name} + excluded.${name}`)
    this.#add = sqlite.prepare(
      `insert into record_sums (${key}, ${sumAmounts}) values (?, ?, ?, ?, ?, ?, ${sumAmounts.map(() => '?')})
       on conflict do update set ${sums} returning requests`,
    )
    this.#remove = sqlite.prepare(`delete from record_sums where ${isKey}`)
    this.#latencies = sqlite.prepare(`select counts from record_latencies where ${isKey}`)
    this.#setLatencies = sqlite.prepare(
      `insert into record_latencies (${key}, counts) values (?, ?, ?, ?, ?, ?, ?)
       on conflict do update set counts = excluded.counts`,
    )
    this.#removeLatencies = sqlite.prepare(`delete from record_latencies where ${isKey}`)
  }

  /** A record that is stored from now on (`sign` 1), or no more (-1). */
  count(record: SummedRecord, sign: 1 | -1): void {
    if (record.id >= this.#from()) this.#change(record, sign)
  }

  /** What was gathered, before the transaction ends: hours, and the days and weeks that they make. */
  flush(): void {
    if (this.#changes.size === 0) return
    const longer = new Map<string, Change>()
    for (const change of this.#changes.values()) {
      this.#write(change)
      const { day, week } = spansOf(change.key[1])
      addUp(longer, 'day', day, change)
      addUp(longer, 'week', week, change)
    }
    for (const change of longer.values()) this.#write(change)
    this.#changes.clear()
  }

  /** For when the transaction is undone. */
  forget(): void {
    this.#changes.clear()
    this.#summedFrom = null
  }

  /** Sums the next older ones of those that were stored before there were sums. Returns whether there are more. */
  sumOlder(): boolean {
    const from = this.#from()
    if (from === '') return false
    const rows = this.#older.all(from, sliceRecords)
    for (const row of rows) this.#change(row, 1)
    const reached = rows.length < sliceRecords ? '' : (rows.at(-1)?.id ?? '')
    this.#setState.run(reached)
    this.#summedFrom = reached
    return reached !== ''
  }

  #from(): string {
    this.#summedFrom ??= this.#state.get()?.summed_from ?? ''
    return this.#summedFrom
  }

  #change(record: SummedRecord, sign: 1 | -1): void {
    if (record.state === 'admitted') return
    const { time, label, state, status, error_code, usd, duration_ms, first_byte_ms } = record
    const hour = hourOf(time)
    const name = `${hour}\n${label}\n${state}\n${status}\n${error_code}`
    let change = this.#changes.get(name)
    if (change === undefined) {
      const key: SumKey = ['hour', hour, label, state, status ?? 0, error_code ?? '']
      change = noChange(key)
      this.#changes.set(name, change)
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

  #write({ key, latencies, ...amounts }: Change): void {
    const left = this.#add.get(...key, ...sumAmounts.map((name) => amounts[name]))
    if (left?.requests === 0) {
      this.#remove.run(...key)
      this.#removeLatencies.run(...key)
    } else if (latencies.size > 0) {
      this.#setLatencies.run(...key, changeLatencies(this.#latencies.get(...key)?.counts ?? null, latencies))
    }
  }
}

const tokenColumns = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const

function noChange(key: SumKey): Change {
  const amounts = { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 }
  return { key, ...amounts, usd_nano: 0, priced: 0, latencies: new Map() }
}

function addUp(longer: Map<string, Change>, span: SumSpan, start: string, hour: Change): void {
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
