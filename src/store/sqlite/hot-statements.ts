import type { Database, Statement } from 'better-sqlite3'
import { CacheStatements } from '../cache/cache-statements.ts'
import { BatchHoldStatements } from '../ingest/batch-hold-statements.ts'
import { BatchUsageStatements } from '../ingest/batch-usage-statements.ts'
import { SpendStatements } from '../ingest/spend-statements.ts'
import { ObjectStatements } from '../objects/object-statements.ts'
import { ReasoningStatements } from '../reasoning/reasoning-statements.ts'
import { BodyStatements } from '../records/body-statements.ts'
import { LabelNumbers } from '../records/label-numbers.ts'
import { insertRecord, replaceRecord, type StoredRecord } from '../records/record-columns.ts'
import type { RecordChange, RecordHead } from '../records/record-head.ts'
import { RemovalStatements } from '../records/removal-statements.ts'
import { type SummedRecord, summedColumns } from '../records/sum-changes.ts'
import { SumStatements } from '../records/sum-statements.ts'
import type { OutboxStatements } from '../replica/outbox-statements.ts'
import { TraceStatements } from '../traces/trace-statements.ts'

type RowValues = (string | number | null)[]

export interface UnsettledRow {
  id: string
  boot: string
  record_json: string
}

/**
 * What ingestion runs for every request, prepared once and bound by position: through the query builder each row costs
 * ten times as much. To be run within a transaction, which `Connection.writeHot()` is.
 */
export class HotStatements {
  readonly bodies: BodyStatements
  readonly objects: ObjectStatements
  readonly batches: BatchUsageStatements
  readonly spend: SpendStatements
  readonly holds: BatchHoldStatements
  readonly reasoning: ReasoningStatements
  readonly traces: TraceStatements
  readonly cache: CacheStatements
  readonly sums: SumStatements
  readonly removal: RemovalStatements
  /** Only on a node of a cluster that shares its records. */
  outbox: OutboxStatements | null = null
  readonly #sqlite: Database
  readonly #labels: LabelNumbers
  readonly #add: Statement<StoredRecord>
  readonly #replace: Statement<StoredRecord>
  readonly #stored: Statement<RowValues, SummedRecord & { record_json: string | null }>
  readonly #key: Statement<RowValues>
  readonly #repeat: Statement<RowValues>
  readonly #offset: Statement<RowValues>
  readonly #unsettled: Statement<RowValues, UnsettledRow>

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
    this.bodies = new BodyStatements(sqlite)
    this.objects = new ObjectStatements(sqlite)
    this.batches = new BatchUsageStatements(sqlite)
    this.spend = new SpendStatements(sqlite)
    this.holds = new BatchHoldStatements(sqlite)
    this.reasoning = new ReasoningStatements(sqlite)
    this.traces = new TraceStatements(sqlite)
    this.cache = new CacheStatements(sqlite)
    this.sums = new SumStatements(sqlite)
    this.removal = new RemovalStatements(sqlite, this.sums, () => this.outbox?.readBack())
    this.#labels = new LabelNumbers(sqlite)
    this.#add = sqlite.prepare<StoredRecord>(`${insertRecord} on conflict (id) do nothing`)
    this.#replace = sqlite.prepare<StoredRecord>(`${insertRecord} ${replaceRecord}`)
    const ended = `case when state = 'admitted' then null else record_json end as record_json`
    this.#stored = sqlite.prepare(`select ${summedColumns}, ${ended} from records where id = ?`)
    this.#key = sqlite.prepare(
      'update keys set last_used_at = ? where id = ? and (last_used_at is null or last_used_at < ?)',
    )
    this.#repeat = sqlite.prepare(
      `insert into repeated_records (id, count, last_time) values (?, ?, ?)
       on conflict (id) do update set count = repeated_records.count + excluded.count, last_time = excluded.last_time`,
    )
    this.#offset = sqlite.prepare(
      `insert into journal_segments (name, bytes_read) values (?, ?)
       on conflict (name) do update set bytes_read = excluded.bytes_read`,
    )
    this.#unsettled = sqlite.prepare(
      `select id, boot, record_json from records
       where state = 'admitted' and boot in (select value from json_each(?)) order by id limit ?`,
    )
  }

  /** Runs something whole or not at all, within the transaction that is open. */
  attempt<Output>(run: () => Output): Output {
    try {
      return this.#sqlite.transaction(() => this.whole(run))()
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /** `run`, and what of it is written once a transaction. */
  whole<Output>(run: () => Output): Output {
    const output = run()
    this.sums.flush()
    this.outbox?.flush()
    return output
  }

  /** What is remembered of a transaction that is undone holds no more. */
  forget(): void {
    this.#labels.forget()
    this.sums.forget()
    this.outbox?.forget()
  }

  hasRecord(id: string): boolean {
    return this.#stored.get(id) !== undefined
  }

  /**
   * An admitted record is only ever added; anything else replaces what stands there, so that reading a journal twice
   * changes nothing.
   */
  writeRecord(head: RecordHead, owner: string, text: string): RecordChange {
    const row = rowOf(head, this.#labels.occur(head))
    const values: StoredRecord = [
      row.id,
      owner,
      row.state,
      row.time,
      row.label,
      row.status,
      row.error_code,
      row.input,
      row.output,
      row.cache_read,
      row.cache_write,
      row.reasoning,
      row.usd,
      row.duration_ms,
      text,
      row.first_byte_ms,
      head.figures === null ? null : JSON.stringify(head.figures),
    ]
    // Nearly every record is new, since most requests begin and end in one batch: only the others are looked up.
    const isNew = this.#add.run(...values).changes > 0
    if (!isNew && !this.#replaceRecord(row, values)) return null
    this.sums.count(row, text, 1)
    if (row.state !== 'admitted') this.outbox?.add(row.id, values)
    return isNew ? 'added' : 'replaced'
  }

  /** False where what stands there stays. */
  #replaceRecord(row: SummedRecord, values: StoredRecord): boolean {
    if (row.state === 'admitted') return false
    const before = this.#stored.get(row.id)
    if (before?.record_json != null) {
      this.sums.count(before, before.record_json, -1)
      this.outbox?.readBack()
    }
    return this.#replace.run(...values).changes > 0
  }

  /** Only ever forward: segments of several threads arrive in no order. Not a change of the key set. */
  touchKey(id: string, time: string): void {
    this.#key.run(time, id, time)
  }

  addRepeat(id: string, count: number, lastTime: string): void {
    this.#repeat.run(id, count, lastTime)
    this.outbox?.add(id)
  }

  writeOffset(segment: string, bytesRead: number): void {
    this.#offset.run(segment, bytesRead)
  }

  /** What these admitted and never settled; oldest first. */
  findUnsettled(owners: readonly string[], limit: number): UnsettledRow[] {
    return this.#unsettled.all(JSON.stringify(owners), limit)
  }

  /**
   * Removes what is over before that period of the next labels above that number, and the labels that are over at all.
   * Returns the last one looked at; null when there are no more.
   */
  removeLabelsBefore(period: string, above: number, limit: number): number | null {
    const page = this.#sqlite
      .prepare<[number, number], { number: number }>(
        'select number from record_labels where number > ? order by number limit ?',
      )
      .all(above, limit)
    const last = page.at(-1)?.number
    if (last === undefined) return null
    this.#sqlite
      .prepare('delete from label_periods where label > ? and label <= ? and period < ?')
      .run(above, last, period)
    this.#sqlite
      .prepare(
        `delete from record_labels where number > ? and number <= ?
         and not exists (select 1 from label_periods where label = number)`,
      )
      .run(above, last)
    this.forget()
    return last
  }
}

function rowOf(head: RecordHead, label: number): SummedRecord {
  const { id, state, time, status, error, tokens, cost, duration_ms, first_byte_ms } = head
  return {
    id,
    time,
    state,
    label,
    status,
    error_code: error?.code ?? null,
    input: tokens?.input ?? null,
    output: tokens?.output ?? null,
    cache_read: tokens?.cache_read ?? null,
    cache_write: tokens?.cache_write ?? null,
    reasoning: tokens?.reasoning ?? null,
    usd: cost?.usd ?? null,
    duration_ms,
    first_byte_ms,
  }
}
