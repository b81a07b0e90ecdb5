import type { Database, Statement } from 'better-sqlite3'
import type { RecordHead } from './record-head.ts'

type Values = (string | number | null)[]

/**
 * What ingestion runs for every request, prepared once and bound by position: through the query builder each row costs
 * ten times as much. To be run within a transaction.
 */
export class HotStatements {
  /** Runs something whole or not at all, within the transaction that is open. */
  readonly attempt: <Output>(run: () => Output) => Output
  readonly #record: Statement<Values>
  readonly #key: Statement<Values>
  readonly #repeat: Statement<Values>
  readonly #offset: Statement<Values>

  constructor(sqlite: Database) {
    this.attempt = (run) => sqlite.transaction(run)()
    this.#record = sqlite.prepare(upsert)
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
  }

  /**
   * An admitted record is only ever added; anything else replaces what stands there, so that reading a journal twice
   * changes nothing. Returns whether something was added or changed.
   */
  writeRecord(head: RecordHead, owner: string, text: string): boolean {
    const { tokens, key } = head
    const values = [
      head.id,
      owner,
      head.state,
      head.time,
      head.lane,
      head.project,
      head.environment,
      key?.id ?? null,
      key?.name ?? null,
      head.model,
      head.provider,
      head.status,
      head.error?.code ?? null,
      head.streamed ? 1 : 0,
      tokens?.input ?? null,
      tokens?.output ?? null,
      tokens?.cache_read ?? null,
      tokens?.cache_write ?? null,
      tokens?.reasoning ?? null,
      head.cost?.usd ?? null,
      head.duration_ms,
      text,
    ]
    return this.#record.run(...values).changes > 0
  }

  /** Only ever forward: segments of several threads arrive in no order. Not a change of the key set. */
  touchKey(id: string, time: string): void {
    this.#key.run(time, id, time)
  }

  addRepeat(id: string, count: number, lastTime: string): void {
    this.#repeat.run(id, count, lastTime)
  }

  writeOffset(segment: string, bytesRead: number): void {
    this.#offset.run(segment, bytesRead)
  }
}

const columns = [
  'id',
  'boot',
  'state',
  'time',
  'lane',
  'project',
  'environment',
  'key_id',
  'key_name',
  'model',
  'provider',
  'status',
  'error_code',
  'streamed',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'usd',
  'duration_ms',
  'record_json',
] as const

const upsert = `insert into records (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})
  on conflict (id) do update set ${columns
    .filter((column) => column !== 'id' && column !== 'boot')
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}
  where excluded.state <> 'admitted'`
