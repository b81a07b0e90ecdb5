import { createHash } from 'node:crypto'
import type Sqlite from 'better-sqlite3'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import { addSpent } from '../ingest/spend-statements.ts'
import { toObjectRow } from '../objects/object-rows.ts'
import { appendAudit } from '../operators/audit.ts'
import { projectOf } from '../operators/audit-project.ts'
import type { AuditLine } from '../operators/audit-tables.ts'
import { readHead } from '../records/record-head.ts'
import type { Database } from '../schema.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import { StoreMoved } from '../store-error.ts'
import { runMethod, runWrite } from '../tables.ts'
import { applyPending, applyRows, exportRows, holds } from './apply-rows.ts'
import { beginCapture, installCapture, readCaptured } from './capture.ts'
import type { PendingRow } from './replica-rows.ts'
import type {
  ForeignRecord,
  PendingChange,
  Rehearsal,
  ReplicaAnswers,
  ReplicaRequest,
  ReplicaState,
  RowChange,
  SharedCall,
  SharedRows,
  TakenAway,
} from './replica-types.ts'
import type { SharedChange } from './shared-change.ts'

/** The database of a node of a cluster: rehearses what is to be changed, and becomes what the cluster says. */
export class Replica {
  readonly #connection: Connection
  readonly #schema: string
  #captures = false

  constructor(connection: Connection, schema: string) {
    this.#connection = connection
    this.#schema = schema
  }

  async answer(request: ReplicaRequest): Promise<ReplicaAnswers[keyof ReplicaAnswers]> {
    switch (request.act) {
      case 'state':
        return await this.#connection.read((db) => this.#state(db))
      case 'enter':
        return await this.#change((sqlite) => {
          if (request.rows !== null) applyRows(sqlite, { rows: request.rows, extent: 'join' })
          else if (digest(sqlite) !== request.digest) throw new StoreMoved('it was changed meanwhile')
          this.#stand(sqlite, request.state)
        })
      case 'leave':
        return await this.#change((sqlite) => leave(sqlite, request.spent))
      case 'take-over':
        return await this.#connection.writeHot((hot) => takeOver(hot, request.records))
      case 'take-over-bodies':
        return await this.#connection.writeHot((hot) => hot.bodies.takeOver(request.bodies))
      case 'take-over-objects':
        return await this.#change((sqlite) => takeOverObjects(sqlite, request.changes))
      case 'export':
        return await this.#connection.read(async () => {
          const { sqlite } = this.#connection
          return { rows: exportRows(sqlite), digest: digest(sqlite) }
        })
      case 'rehearse':
        return await this.#rehearse((db) => runWrite(db, request.call))
      case 'defer':
        return await this.#defer(request.call, request.token)
      case 'hear':
        return await this.#hear(request.taken)
      case 'waiting':
        return await this.#connection.read(async (db) => {
          const rows = await db.selectFrom('replica_pending').selectAll().orderBy('number').execute()
          return rows.map(readTaken)
        })
      case 'pending':
        return await this.#pending()
      case 'settle':
        return await this.#change((sqlite) =>
          sqlite.prepare('delete from replica_pending where number = ?').run(request.number),
        )
      case 'apply':
        return await this.#change((sqlite) => this.#apply(sqlite, request.rows))
    }
  }

  async #state(db: Database): Promise<ReplicaAnswers['state']> {
    const row = await db.selectFrom('replica').selectAll().executeTakeFirst()
    if (row === undefined) return null
    const waiting = db.selectFrom('replica_pending').select((fn) => fn.fn.countAll().as('count'))
    const { count } = await waiting.executeTakeFirstOrThrow()
    const { schema, ...state } = row
    return { ...state, pending: Number(count), behindSchema: schema !== this.#schema }
  }

  /** Always undone: what it throws at the end carries the result out of the transaction. */
  async #rehearse(run: (db: Database) => Promise<unknown>): Promise<Rehearsal> {
    const { sqlite } = this.#connection
    this.#installOnce()
    try {
      return await this.#connection.write(async (db) => {
        beginCapture(sqlite)
        const output = await run(db)
        throw new Undone({ output, changes: readCaptured(sqlite), sequence: await sequenceOf(db) })
      })
    } catch (error) {
      if (error instanceof Undone) return error.rehearsal
      throw error
    }
  }

  async #defer(call: SharedCall, token: string): Promise<ReplicaAnswers['defer']> {
    const { sqlite } = this.#connection
    this.#installOnce()
    return await this.#connection.write(async (db) => {
      beginCapture(sqlite)
      const project = call.audit === null ? null : await projectOf(db, call.audit)
      const output = await runMethod(db, call)
      const changes = readCaptured(sqlite)
      sqlite.exec('delete from temp.capturing')
      const { audit } = call
      const taken: TakenAway = { token, changes, audit, projectId: project, time: new Date().toISOString() }
      if (changes.length > 0 || audit !== null) await keepTaken(db, taken)
      return { output, taken: changes.length > 0 ? taken : null }
    })
  }

  async #hear(heard: readonly TakenAway[]): Promise<boolean> {
    return await this.#connection.write(async (db) => {
      const { sqlite } = this.#connection
      let isNew = false
      if ((await sequenceOf(db)) === 0) return isNew
      const waits = sqlite.prepare('select 1 from replica_pending where token = ?')
      for (const taken of heard) {
        if (waits.get(taken.token) !== undefined || taken.changes.every((change) => holds(sqlite, change))) continue
        await keepTaken(db, taken)
        applyPending(sqlite, taken.changes)
        isNew = true
      }
      return isNew
    })
  }

  /** Its audit line continues the chain as it is now, and keeps the time at which it was decided. */
  async #pending(): Promise<PendingChange | null> {
    const found = await this.#connection.read((db) =>
      db.selectFrom('replica_pending').selectAll().orderBy('number').limit(1).executeTakeFirst(),
    )
    if (found === undefined) return null
    const { number, token, changes_json, audit_json, project_id, time } = found
    const rehearsal = await this.#rehearse(async (db) => {
      if (audit_json !== null) await appendAudit(db, readJson(audit_json), project_id, time)
    })
    const changes = [...readJson<RowChange[]>(changes_json), ...rehearsal.changes]
    return { number, token, changes, sequence: rehearsal.sequence }
  }

  #apply(sqlite: Sqlite.Database, rows: SharedRows): void {
    applyRows(sqlite, rows)
    const pending = sqlite.prepare('select changes_json from replica_pending order by number').pluck().all()
    for (const text of pending) applyPending(sqlite, readJson<RowChange[]>(String(text)))
    const { sequence, mark } = rows
    sqlite.prepare('update replica set sequence = ?, mark = ?, schema = ?').run(sequence, mark, this.#schema)
    reachFaultPoint('apply.before-commit')
  }

  #stand(sqlite: Sqlite.Database, { cluster, member, sequence, mark }: ReplicaState): void {
    sqlite.exec('delete from replica')
    sqlite
      .prepare('insert into replica (cluster, member, sequence, mark, schema) values (?, ?, ?, ?, ?)')
      .run(cluster, member, sequence, mark, this.#schema)
  }

  async #change(run: (sqlite: Sqlite.Database) => unknown): Promise<null> {
    await this.#connection.writeUnchecked((sqlite) => void run(sqlite))
    return null
  }

  #installOnce(): void {
    if (!this.#captures) installCapture(this.#connection.sqlite)
    this.#captures = true
  }
}

/** All at once: whoever is alone again, but did not know what others spent, would spend it a second time. */
function leave(sqlite: Sqlite.Database, spent: readonly BookedAmount[]): void {
  sqlite.exec('delete from replica; delete from replica_pending')
  const add = sqlite.prepare(addSpent)
  for (const booked of spent) add.run(booked)
}

/** Not of what each node finds for itself: with every request a key was used last at another time. */
function digest(sqlite: Sqlite.Database): string {
  const hash = createHash('sha256')
  for (const row of exportRows(sqlite, false)) hash.update(JSON.stringify(row))
  return hash.digest('base64')
}

async function keepTaken(db: Database, { token, changes, audit, projectId, time }: TakenAway): Promise<void> {
  const audit_json = audit === null ? null : writeJson(audit)
  const row = { token, changes_json: writeJson(changes), audit_json, project_id: projectId, time }
  await db.insertInto('replica_pending').values(row).execute()
}

function readTaken({ token, changes_json, audit_json, project_id, time }: PendingRow): TakenAway {
  const audit = audit_json === null ? null : readJson<AuditLine>(audit_json)
  return { token, changes: readJson(changes_json), audit, projectId: project_id, time }
}

class Undone extends Error {
  override readonly name = 'Undone'
  readonly rehearsal: Rehearsal

  constructor(rehearsal: Rehearsal) {
    super('a rehearsal ends by being undone')
    this.rehearsal = rehearsal
  }
}

async function sequenceOf(db: Database): Promise<number> {
  const row = await db.selectFrom('replica').select('sequence').executeTakeFirst()
  return row?.sequence ?? 0
}

/** No run of this gateway: nothing of them is ever under way here. */
const owner = 'another node'

/** Records of other nodes, each once; and none of them is brought to PostgreSQL again. Returns how many were new. */
function takeOver(hot: HotStatements, records: readonly ForeignRecord[]): number {
  const { outbox } = hot
  hot.outbox = null
  try {
    return records.filter((record) => addOne(hot, record)).length
  } finally {
    hot.outbox = outbox
  }
}

/** Whose things at providers are, and what is kept of conversations, of all nodes. */
function takeOverObjects(sqlite: Sqlite.Database, changes: readonly SharedChange[]): void {
  const addObject = sqlite.prepare(
    `insert or ignore into objects
       (type, id, provider_id, credential_id, project_id, environment_id, key_id, request_id, created_at, batch_id)
     values (:type, :id, :provider_id, :credential_id, :project_id, :environment_id, :key_id, :request_id, :created_at,
       :batch_id)`,
  )
  const addInput = sqlite.prepare('insert or ignore into batch_inputs values (?, ?, ?, ?)')
  const addReasoning = sqlite.prepare('insert or ignore into reasoning (name, expires_at, sealed) values (?, ?, ?)')
  // As if it had been counted here, so that nobody counts it again.
  const addCounted = sqlite.prepare(
    `insert or ignore into counted_batches (id, provider_id, credential_id, request_id, counted_at, type)
     values (?, ?, ?, '', ?, ?)`,
  )
  for (const change of changes) {
    if (change.kind === 'reasoning') addReasoning.run(change.name, change.expiresAt, change.sealed)
    else if (change.kind === 'counted') {
      const { batchId, providerId, credentialId, type } = change
      addCounted.run(batchId, providerId, credentialId ?? '', new Date().toISOString(), type)
    } else if (change.kind === 'made') {
      const row = toObjectRow(change.object)
      addObject.run(row)
      if (change.input !== null) addInput.run(row.id, row.provider_id, row.credential_id, JSON.stringify(change.input))
    }
  }
}

function addOne(hot: HotStatements, { text, repeats, last_time }: ForeignRecord): boolean {
  const head = readHead(text, 'settled')
  if (head === null || hot.hasRecord(head.id)) return false
  hot.writeRecord(head, owner, text)
  if (repeats !== null && last_time !== null) hot.addRepeat(head.id, repeats, last_time)
  return true
}
