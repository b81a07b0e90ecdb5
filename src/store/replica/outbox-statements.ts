import type { Database, Statement } from 'better-sqlite3'
import type { StoredRecord } from '../records/record-columns.ts'
import type { BodyRow } from '../schema.ts'
import { ClaimStatements } from './claim-statements.ts'
import { objectHistoryStart, readObjectHistory } from './object-history.ts'
import { type NotedBody, noteBodies, OutboxBodies } from './outbox-bodies.ts'
import { OutboxRecords, RecordsBatch } from './outbox-records.ts'
import { behindIds } from './outbox-rows.ts'
import type { BatchWanted, OutboxBatch, OutboxMark, OutboxState } from './outbox-types.ts'
import type { SharedChange } from './shared-change.ts'

interface WaitingRow extends OutboxMark {
  records: number
  ids_json: string
  changes_json: string | null
  bodies_json: string | null
}

/** So many batches are looked at for one that is shipped. */
const rowsAtOnce = 64
/** Of what is stored before it is asked for. */
const freshBytes = 4 * 1024 * 1024
/** Of what was stored before records were shared. */
const historyRecords = 1000
/** What PostgreSQL has had for so long a standby that takes over has as well. */
const keptMs = 15 * 60_000

/** Notes in the transaction that stores a record that it is to be shipped; only on a node that shares its records. */
export class OutboxStatements {
  readonly claims: ClaimStatements
  readonly #added = new Set<string>()
  #changes: SharedChange[] = []
  #noted: NotedBody[] = []
  /**
   * What is stored since the last batch was read, written for the next one at once: reading it back would cost as much again. Null:
   * it is read.
   */
  #fresh: { after: number; batch: RecordsBatch } | null = null
  readonly #bodies: OutboxBodies
  readonly #insert: Statement<[string, number, string, string, string | null, string | null]>
  readonly #waiting: Statement<[number, number], WaitingRow>
  readonly #records: OutboxRecords
  readonly #depth: Statement<[number], { depth: number | null; since: string | null }>
  readonly #history: Statement<[], number>
  readonly #sqlite: Database

  constructor(sqlite: Database) {
    this.#sqlite = sqlite
    this.claims = new ClaimStatements(sqlite)
    this.#bodies = new OutboxBodies(sqlite)
    this.#insert = sqlite.prepare(
      'insert into outbox (least, records, ids_json, time, changes_json, bodies_json) values (?, ?, ?, ?, ?, ?)',
    )
    this.#waiting = sqlite.prepare(
      `select sequence, mark, records, ids_json, changes_json, bodies_json from outbox where sequence > ?
       order by sequence limit ?`,
    )
    this.#records = new OutboxRecords(sqlite)
    this.#history = sqlite
      .prepare<[], number>('select coalesce(history, object_history, body_history) is not null from outbox_state')
      .pluck()
    this.#depth = sqlite.prepare('select sum(records) as depth, min(time) as since from outbox where sequence > ?')
  }

  /** `row`: as it is stored, where nothing of it waits yet. */
  add(id: string, row: StoredRecord | null = null): void {
    this.#added.add(id)
    // The last where PostgreSQL is away, or does not keep up.
    if (row === null || (this.#fresh?.batch.bytes ?? 0) > freshBytes) return this.readBack()
    this.#fresh?.batch.add(row)
  }

  /** What waits may be changed or gone: it is read as it is by then. */
  readBack(): void {
    this.#fresh = null
  }

  change(change: SharedChange): void {
    this.#changes.push(change)
  }

  body(body: NotedBody): void {
    this.#noted.push(body)
  }

  /** Before the transaction ends. */
  flush(): void {
    if (this.#added.size + this.#changes.length + this.#noted.length === 0) return
    this.#put([...this.#added], this.#changes, this.#noted)
    this.#begin()
  }

  /** For when the transaction is undone. */
  forget(): void {
    this.#begin()
    this.readBack()
  }

  #begin(): void {
    this.#added.clear()
    this.#changes = []
    this.#noted = []
  }

  /** At least one batch, and no more records than that; null: nothing waits. */
  read({ after, most, mostBytes, node }: BatchWanted): OutboxBatch | null {
    const rows = this.#waiting.all(after, rowsAtOnce)
    const fresh = this.#takeFresh(rows, { after, most, mostBytes })
    const shipped = fresh ?? new RecordsBatch(this.#records, node)
    const ids = new Set<string>()
    const changes: SharedChange[] = []
    const bodies: BodyRow[] = []
    let reached: OutboxMark | null = null
    let bytes = 0
    for (const { sequence, mark, records, ids_json, changes_json, bodies_json } of rows) {
      if (reached !== null && (ids.size + records > most || bytes + shipped.bytes > mostBytes)) break
      if (fresh === null) {
        // One that was noted twice is read once, as it is now.
        const wanted = (JSON.parse(ids_json) as string[]).filter((id) => !ids.has(id))
        for (const id of wanted) ids.add(id)
        shipped.read(wanted)
      }
      if (changes_json !== null) changes.push(...(JSON.parse(changes_json) as SharedChange[]))
      bytes += changes_json?.length ?? 0
      for (const body of bodies_json === null ? [] : this.#bodies.read(bodies_json)) {
        bodies.push(body)
        bytes += body.sealed.length
      }
      reached = { sequence, mark }
    }
    const records = shipped.take()
    const last = rows.at(-1)?.sequence ?? after
    if (rows.length < rowsAtOnce && last === (reached?.sequence ?? after))
      this.#fresh = { after: last, batch: new RecordsBatch(this.#records, node) }
    return reached && { after, ...reached, records, changes, bodies, isHistory: false }
  }

  /** Null where these rows are not exactly what was stored since, or are too much for one batch. */
  #takeFresh(rows: readonly WaitingRow[], { after, most, mostBytes }: Omit<BatchWanted, 'node'>): RecordsBatch | null {
    const fresh = this.#fresh
    this.readBack()
    if (fresh?.after !== after || rows.some(({ bodies_json }) => bodies_json !== null)) return null
    const records = rows.reduce((sum, row) => sum + row.records, 0)
    const bytes = rows.reduce((sum, { changes_json }) => sum + (changes_json?.length ?? 0), fresh.batch.bytes)
    return records === fresh.batch.ids.length && records <= most && bytes <= mostBytes ? fresh.batch : null
  }

  /** Some of what was stored before it was shared is still to be noted. Asked several times a second, mostly for nothing. */
  get hasHistory(): boolean {
    return this.#history.get() === 1
  }

  /** Notes the next of what was stored before records were shared, newest first. False: there is nothing more. */
  addHistory(): boolean {
    const from = this.#state<string | null>('history')
    if (from === null) return false
    const records = this.#sqlite
      .prepare<[string, number], string>(
        "select id from records where id < ? and state <> 'admitted' order by id desc limit ?",
      )
      .pluck()
      .all(from, historyRecords)
    const { ids, bodies } = this.#bodies.pageOf(records)
    this.#setState('history', ids.at(-1) ?? null)
    if (ids.length > 0) this.#put(ids, [], bodies)
    return ids.length > 0
  }

  /** The same for objects and reasoning. */
  addObjectHistory(): boolean {
    const from = this.#state<string | null>('object_history')
    if (from === null) return false
    const { changes, next } = readObjectHistory(this.#sqlite, from)
    this.#setState('object_history', next)
    if (changes.length > 0) this.#put([], changes)
    return changes.length > 0 || this.addObjectHistory()
  }

  /** The bodies of records that an earlier version has shipped without them; others come with their records. */
  addBodyHistory(): boolean {
    const from = this.#state<string | null>('body_history')
    if (from === null) return false
    const { ids, bodies } = this.#bodies.pageOf(this.#bodies.listBefore(from))
    const last = ids.at(-1) ?? null
    this.#setState('body_history', last)
    this.#put([], [{ kind: 'bodies-from', id: last ?? '' }], bodies)
    return true
  }

  /** Below it there are bodies that were not even noted to be shipped. */
  get unnoted(): string {
    return this.#state<string>("max(coalesce(history, ''), coalesce(body_history, ''))")
  }

  /**
   * Where shipping goes on when PostgreSQL is at that mark. One that is not known here tells that one of the two has lost its
   * last changes, with the machine or by a standby that took over: then all that is here is shipped again, under new numbers.
   */
  resume({ sequence, mark }: OutboxMark): number {
    const has = ['outbox', 'outbox_state'].some(
      (table) =>
        this.#sqlite.prepare(`select 1 from ${table} where sequence = ? and mark = ?`).get(sequence, mark) !==
        undefined,
    )
    if (has) return sequence
    this.readBack()
    const last = this.#state<number>("(select coalesce(max(seq), 0) from sqlite_sequence where name = 'outbox')")
    const shift = Math.max(last, sequence)
    this.#sqlite.prepare('update outbox set sequence = sequence + ?').run(shift)
    this.#sqlite.exec(`delete from sqlite_sequence where name = 'outbox'`)
    this.#sqlite.prepare("insert into sqlite_sequence (name, seq) values ('outbox', ?)").run(shift + last)
    // Of what is no longer noted nobody knows whether PostgreSQL still has it.
    if (sequence < this.#state<number>('sequence')) {
      this.#sqlite.exec("update outbox_state set history = '~', body_history = '~'")
      this.#setState('object_history', objectHistoryStart)
    }
    this.settle({ sequence, mark })
    return sequence
  }

  /** PostgreSQL has come to that mark. */
  settle({ sequence, mark }: OutboxMark): void {
    this.#sqlite.prepare('update outbox_state set sequence = ?, mark = ?').run(sequence, mark)
    const before = new Date(Date.now() - keptMs).toISOString()
    this.#sqlite.prepare('delete from outbox where sequence <= ? and time < ?').run(sequence, before)
  }

  state(from: number | null): OutboxState {
    const after = from ?? this.#state<number>('sequence')
    const { depth = null, since = null } = this.#depth.get(after) ?? {}
    const history = this.#state<string | null>('history') !== null
    return { depth: depth ?? 0, since, history, ...this.claims.measure() }
  }

  /** Bodies that are too many for one row come in rows before it: in PostgreSQL no record is without them. */
  #put(ids: readonly string[], changes: readonly SharedChange[], bodies: readonly NotedBody[] = []): void {
    const [least = behindIds] = ids.toSorted()
    const time = new Date().toISOString()
    const pages = noteBodies(bodies)
    const last = pages.pop() ?? null
    for (const page of pages) this.#insert.run(behindIds, 0, '[]', time, null, page)
    const changesText = changes.length === 0 ? null : JSON.stringify(changes)
    this.#insert.run(least, ids.length, JSON.stringify(ids), time, changesText, last)
  }

  #state<Value>(column: string): Value {
    return this.#sqlite.prepare<[], Value>(`select ${column} from outbox_state`).pluck().get() as Value
  }

  #setState(column: string, value: string | null): void {
    this.#sqlite.prepare(`update outbox_state set ${column} = ?`).run(value)
  }
}
