import type { Database, Statement } from 'better-sqlite3'
import { changeLatencies } from './latency-blob.ts'
import { countedTags } from './record-json.ts'
import { isSumKey, sumAmounts, sumKey } from './record-sum-keys.ts'
import { type SumChange, SumChanges, type SummedRecord } from './sum-changes.ts'
import type { RecordSumRow } from './sum-rows.ts'

type TagValues = (string | number | Buffer)[]
type TagSpan = 'day' | 'week'

/**
 * Rows kept of one span. Tags are the clients' own words, end users among them: where there are nearly as many as records, their
 * sums would cost the disk more than they save anybody.
 */
const mostTagRows: Readonly<Record<TagSpan, number>> = { day: 5000, week: 10_000 }
/** Spans whose rows are counted in memory. */
const keptSpans = 64

/** Keeps the sums by tag in the transaction that changes the records. */
export class TagSumStatements {
  readonly #changes = new SumChanges('day')
  /** Of days and weeks: how many rows there are; infinity: more than are kept. */
  readonly #rows = new Map<string, number>()
  #taggedFrom: string | null = null
  readonly #state: Statement<[], { tagged_from: string }>
  readonly #count: Statement<[string, string], { rows: number }>
  readonly #overflows: Statement<[string, string]>
  readonly #setOverflow: Statement<[string, string]>
  readonly #removeSpan: Statement<[string, string]>
  readonly #found: Statement<TagValues, { counts: Buffer }>
  readonly #add: Statement<TagValues, Pick<RecordSumRow, 'requests'>>
  readonly #remove: Statement<TagValues>

  constructor(sqlite: Database) {
    const key = [...sumKey, 'tag']
    const isKey = `${isSumKey} and tag = ?`
    const isSpan = 'span = ? and start = ?'
    this.#state = sqlite.prepare('select tagged_from from record_sum_state')
    this.#count = sqlite.prepare(`select count(*) as rows from tag_sums where ${isSpan}`)
    this.#overflows = sqlite.prepare(`select 1 from tag_sum_overflows where ${isSpan}`)
    this.#setOverflow = sqlite.prepare('insert or ignore into tag_sum_overflows (span, start) values (?, ?)')
    this.#removeSpan = sqlite.prepare(`delete from tag_sums where ${isSpan}`)
    this.#found = sqlite.prepare(`select counts from tag_sums where ${isKey}`)
    const sums = sumAmounts.map((name) => `${name} = tag_sums.${name} + excluded.${name}`)
    const values = [...key, ...sumAmounts, 'counts'].map(() => '?')
    this.#add = sqlite.prepare(
      `insert into tag_sums (${key}, ${sumAmounts}, counts) values (${values})
       on conflict do update set ${sums}, counts = excluded.counts returning requests`,
    )
    this.#remove = sqlite.prepare(`delete from tag_sums where ${isKey}`)
  }

  /** A record that is stored from now on (`sign` 1), or no more (-1). */
  count(record: SummedRecord, text: string, sign: 1 | -1): void {
    if (record.state === 'admitted' || record.id < this.#from()) return
    for (const tag of countedTags(text)) this.#changes.add(record, sign, tag)
  }

  flush(): void {
    for (const change of this.#changes.take()) this.#write(change)
  }

  /** For when the transaction is undone. */
  forget(): void {
    this.#changes.clear()
    this.#rows.clear()
    this.#taggedFrom = null
  }

  #from(): string {
    this.#taggedFrom ??= this.#state.get()?.tagged_from ?? ''
    return this.#taggedFrom
  }

  #write({ key, tag, latencies, ...amounts }: SumChange): void {
    const [span, start] = key
    if (span === 'hour' || this.#rowsOf(span, start) === Number.POSITIVE_INFINITY) return
    const known = this.#found.get(...key, tag)
    const counts = changeLatencies(known?.counts ?? null, latencies)
    const left = this.#add.get(...key, tag, ...sumAmounts.map((name) => amounts[name]), counts)
    if (left?.requests === 0) this.#remove.run(...key, tag)
    this.#noteRows(span, start, Number(left?.requests !== 0) - Number(known !== undefined))
  }

  #rowsOf(span: TagSpan, start: string): number {
    const name = `${span} ${start}`
    const known = this.#rows.get(name)
    if (known !== undefined) return known
    if (this.#rows.size >= keptSpans) this.#rows.clear()
    const full = this.#overflows.get(span, start) !== undefined
    const rows = full ? Number.POSITIVE_INFINITY : (this.#count.get(span, start)?.rows ?? 0)
    this.#rows.set(name, rows)
    return rows
  }

  #noteRows(span: TagSpan, start: string, more: number): void {
    const rows = this.#rowsOf(span, start) + more
    const full = rows > mostTagRows[span]
    this.#rows.set(`${span} ${start}`, full ? Number.POSITIVE_INFINITY : rows)
    if (!full) return
    this.#setOverflow.run(span, start)
    this.#removeSpan.run(span, start)
  }
}
