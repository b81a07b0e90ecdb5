import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { newId } from '../../core/ids.ts'
import type { Tables } from '../api.ts'
import { forgetOwned } from '../configuration/ownership.ts'
import type { AuditRow, Database } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import { ChainWalk, chainForm, hashLine } from './audit-chain.ts'
import { projectOf } from './audit-project.ts'
import type { AuditEvent, AuditFilter, AuditLine } from './audit-tables.ts'

/** Lines hashed in one go: a few milliseconds, then it is somebody else's turn. */
const windowLines = 500

/** Append-only: triggers refuse every change, and each line's hash covers the one before, so that a cut shows. */
export function auditTable(db: Database): Tables['audit'] {
  return {
    list: async (filter) => (await selectLines(db, filter).execute()).map(toEvent),
    async get(id) {
      const row = await db.selectFrom('audit').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined ? null : toEvent(row)
    },
    async verify(noted) {
      // Read first: a line written during the walk is not a missing one.
      const written = await lastWritten(db)
      const walk = new ChainWalk(noted)
      for await (const row of readChain(db)) walk.pass(row)
      return walk.end(written)
    },
    note: async () => {},
  }
}

function selectLines(db: Database, filter: AuditFilter) {
  const { projects, actor, surface, resource, since, until, before, after } = filter
  let query = db.selectFrom('audit').selectAll().limit(filter.limit)
  query = query.orderBy('sequence', filter.oldestFirst === true ? 'asc' : 'desc')
  if (projects !== undefined) query = query.where('project_id', 'in', projects.length === 0 ? [''] : projects)
  if (actor !== undefined)
    query = query.where((where) =>
      where.or([where('actor', 'in', [actor, `token ${actor}`]), where('actor_id', '=', actor)]),
    )
  if (surface !== undefined) query = query.where('surface', '=', surface)
  if (resource !== undefined)
    query = query.where((where) =>
      where.or([where('resource_id', '=', resource), where('resource_name', '=', resource)]),
    )
  if (since !== undefined) query = query.where('time', '>=', new Date(since).toISOString())
  if (until !== undefined) query = query.where('time', '<', new Date(until).toISOString())
  if (before !== undefined)
    query = query.where('sequence', '<', db.selectFrom('audit').select('sequence').where('id', '=', before))
  if (after !== undefined) query = query.where('sequence', '>', after)
  const { operation } = filter
  if (operation === undefined) return query
  // `keys` means every operation on keys: '/' is the character after '.'.
  return query.where((where) =>
    where.or([
      where('operation', '=', operation),
      where.and([where('operation', '>', `${operation}.`), where('operation', '<', `${operation}/`)]),
    ]),
  )
}

async function* readChain(db: Database): AsyncGenerator<AuditRow> {
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await db
      .selectFrom('audit')
      .selectAll()
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(windowLines)
      .execute()
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < windowLines) return
    after = last.sequence
    await nextTurn()
  }
}

/** SQLite keeps the largest number that it gave, also when the lines behind it are gone. */
async function lastWritten(db: Database): Promise<number> {
  const { rows } = await sql<{ seq: number }>`select seq from sqlite_sequence where name = 'audit'`.execute(db)
  return rows[0]?.seq ?? 0
}

/** `projectId`: of what the line is about, where it may be gone by now. `time`: when it was, where that is not now. */
export async function appendAudit(
  db: Database,
  line: AuditLine,
  projectId: string | null,
  time = new Date().toISOString(),
): Promise<void> {
  const last = await db
    .selectFrom('audit')
    .select(['sequence', 'hash'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const row = {
    sequence: (last?.sequence ?? 0) + 1,
    id: newId('aud'),
    time,
    actor: line.actor,
    actor_id: line.actorId ?? null,
    surface: line.surface,
    address: line.address ?? null,
    operation: line.operation,
    resource_kind: line.resource.kind,
    resource_id: line.resource.id,
    resource_name: line.resource.name,
    project_id: projectId ?? (await projectOf(db, line)),
    before_json: writeJson(line.before),
    after_json: writeJson(line.after),
    previous_hash: last?.hash ?? '',
    form: chainForm,
  }
  await db
    .insertInto('audit')
    .values({ ...row, hash: hashLine(row) })
    .execute()
}

/** What `run` changes, with its line; both in the caller's transaction. */
export async function withAudit<Output>(
  db: Database,
  line: AuditLine | null,
  run: () => Promise<Output>,
): Promise<Output> {
  if (line === null) return await run()
  // Looked up before the change as well: afterwards, a removed thing belongs to no project.
  const project = await projectOf(db, line)
  const output = await run()
  await appendAudit(db, line, project)
  await forgetOwned(db, line)
  return output
}

function toEvent(row: AuditRow): AuditEvent {
  return {
    sequence: row.sequence,
    id: row.id,
    time: row.time,
    actor: row.actor,
    actorId: row.actor_id,
    surface: row.surface as AuditEvent['surface'],
    address: row.address,
    operation: row.operation,
    resource: { kind: row.resource_kind, id: row.resource_id, name: row.resource_name },
    projectId: row.project_id,
    before: readJson(row.before_json),
    after: readJson(row.after_json),
    previousHash: row.previous_hash,
    hash: row.hash,
  }
}
