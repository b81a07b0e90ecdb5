import type { Database, Statement } from 'better-sqlite3'
import { changeLatencies } from './latency-blob.ts'
import { isSumKey, sumAmounts, sumKey } from './record-sum-keys.ts'
import { type SumChange, SumChanges, type SummedRecord, summedColumns } from './sum-changes.ts'
import type { RecordSumRow } from './sum-rows.ts'
import { TagSumStatements } from './tag-sum-statements.ts'

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
  readonly #changes = new SumChanges('hour')
  readonly #tags: TagSumStatements
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
    this.#tags = new TagSumStatements(sqlite)
    this.#state = sqlite.prepare('select summed_from from record_sum_state')
    this.#setState = sqlite.prepare('update record_sum_state set summed_from = ?')
    this.#older = sqlite.prepare(`select ${summedColumns} from records where id < ? order by id desc limit ?`)
    const sums = sumAmounts.map((name) => `${name} = record_sums.${name} + excluded.${name}`)
    this.#add = sqlite.prepare(
      `insert into record_sums (${sumKey}, ${sumAmounts}) values (?, ?, ?, ?, ?, ?, ${sumAmounts.map(() => '?')})
       on conflict do update set ${sums} returning requests`,
    )
    this.#remove = sqlite.prepare(`delete from record_sums where ${isSumKey}`)
    this.#latencies = sqlite.prepare(`select counts from record_latencies where ${isSumKey}`)
    this.#setLatencies = sqlite.prepare(
      `insert into record_latencies (${sumKey}, counts) values (?, ?, ?, ?, ?, ?, ?)
       on conflict do update set counts = excluded.counts`,
    )
    this.#removeLatencies = sqlite.prepare(`delete from record_latencies where ${isSumKey}`)
  }

  /** A record that is stored from now on (`sign` 1), or no more (-1); `text` is its `record_json`. */
  count(record: SummedRecord, text: string, sign: 1 | -1): void {
    if (record.id >= this.#from()) this.#changes.add(record, sign)
    this.#tags.count(record, text, sign)
  }

  /** What was gathered, before the transaction ends: hours, and the days and weeks that they make. */
  flush(): void {
    for (const change of this.#changes.take()) this.#write(change)
    this.#tags.flush()
  }

  /** For when the transaction is undone. */
  forget(): void {
    this.#changes.clear()
    this.#tags.forget()
    this.#summedFrom = null
  }

  /** Sums the next older ones of those that were stored before there were sums. Returns whether there are more. */
  sumOlder(): boolean {
    const from = this.#from()
    if (from === '') return false
    const rows = this.#older.all(from, sliceRecords)
    for (const row of rows) this.#changes.add(row, 1)
    const reached = rows.length < sliceRecords ? '' : (rows.at(-1)?.id ?? '')
    this.#setState.run(reached)
    this.#summedFrom = reached
    return reached !== ''
  }

  #from(): string {
    this.#summedFrom ??= this.#state.get()?.summed_from ?? ''
    return this.#summedFrom
  }

  #write({ key, latencies, ...amounts }: SumChange): void {
    const left = this.#add.get(...key, ...sumAmounts.map((name) => amounts[name]))
    if (left?.requests === 0) {
      this.#remove.run(...key)
      this.#removeLatencies.run(...key)
    } else if (latencies.size > 0) {
      this.#setLatencies.run(...key, changeLatencies(this.#latencies.get(...key)?.counts ?? null, latencies))
    }
  }
}
