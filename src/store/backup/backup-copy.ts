import { closeSync, openSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { Kysely, type RawBuilder, sql } from 'kysely'
import { errorText } from '../../core/caught.ts'
import { hiddenHeader } from '../../core/secrets/hidden-header.ts'
import { mayBeSecret } from '../../core/secrets/provider-headers.ts'
import type { Reseal, SealedValue } from '../../sealing/reseal.ts'
import { readEverySeal, replaceSealed } from '../configuration/seal.ts'
import type { Database, Schema } from '../schema.ts'
import { readJson, writeJson } from '../sqlite/json-column.ts'
import { type SqliteFile, sqliteDialect } from '../sqlite/sqlite.ts'
import { StoreRefused, translateSqliteError } from '../store-error.ts'
import type { BackupContents } from './backup-protocol.ts'

/** Replaces a credential that was left out. No key opens it; the row stays, to show what has to be entered again. */
const leftBehind = 'left-behind'

/** A database that no gateway uses, with all of it in one file. */
export interface OpenCopy {
  sealed(): Promise<SealedValue[]>
  /** In one transaction. What it overwrites cannot be found in the file afterwards. */
  reseal(changes: Reseal['changes'], leave: readonly string[]): Promise<void>
  leaveBehind(what: { records: boolean; credentials: boolean }): Promise<void>
  /** Throws `StoreRefused` when the database is damaged. */
  check(): void
  describe(): Promise<BackupContents>
  close(): Promise<void>
}

/**
 * Copies one state of a database that others go on reading and writing; the copy has no trace of deleted data. Not
 * SQLite's own backup: that starts over after each write of another connection, and copies deleted pages too.
 */
export function takeCopy(source: SqliteFile, path: string): void {
  // SQLite writes into an empty file as into a new one, and this one has its mode already.
  closeSync(openSync(path, 'wx', 0o600))
  const database = open(source, { fileMustExist: true })
  try {
    database.prepare('vacuum into ?').run(path)
  } catch (error) {
    throw translateSqliteError(error)
  } finally {
    database.close()
  }
}

export function openCopy(file: SqliteFile): OpenCopy {
  const database = open(file, { fileMustExist: true })
  database.pragma('journal_mode = delete')
  database.pragma('synchronous = full')
  database.pragma('foreign_keys = on')
  database.pragma('secure_delete = on')
  const db: Database = new Kysely<Schema>({ dialect: sqliteDialect(database) })
  return {
    sealed: () => readEverySeal(db),
    reseal: (changes, leave) =>
      db.transaction().execute(async (transaction) => {
        await replaceSealed(transaction, changes)
        for (const identity of leave) await forget(transaction, identity)
      }),
    async leaveBehind({ records, credentials }) {
      await db.transaction().execute((transaction) => leave(transaction, { records, credentials }))
      if (records) database.exec('vacuum')
    },
    check: () => refuseDamaged(database),
    describe: () => describe(db),
    close: () => db.destroy(),
  }
}

function open(file: SqliteFile, options: Sqlite.Options): Sqlite.Database {
  const more = file.nativeBinding === undefined ? {} : { nativeBinding: file.nativeBinding }
  return new Sqlite(file.path, { ...options, ...more, timeout: 10_000 })
}

/** Requests in progress, and their journal, stay with the gateway that serves them. */
async function leave(
  db: Database,
  { records, credentials }: { records: boolean; credentials: boolean },
): Promise<void> {
  await db.deleteFrom('journal_segments').execute()
  // Cached answers can be fetched again, and this gateway exports its own traces.
  await db.deleteFrom('cached_answers').execute()
  await db.deleteFrom('pending_traces').execute()
  // A copy belongs to a single gateway, even if it was made in a cluster.
  await db.deleteFrom('replica').execute()
  await db.deleteFrom('replica_pending').execute()
  await db.deleteFrom('outbox').execute()
  await db.deleteFrom('outbox_state').execute()
  await db.deleteFrom('waiting_usage').execute()
  await db.deleteFrom('records').where('state', '=', 'admitted').execute()
  // Sessions and links that were revoked since must not become valid again.
  await db.deleteFrom('sessions').execute()
  await db.deleteFrom('sign_in_links').execute()
  if (records) {
    await db.deleteFrom('records').execute()
    await db.deleteFrom('bodies').execute()
    await db.deleteFrom('record_labels').execute()
    await db.deleteFrom('label_periods').execute()
    await db.deleteFrom('repeated_records').execute()
    await db.deleteFrom('record_sums').execute()
    await db.deleteFrom('record_latencies').execute()
    await db.deleteFrom('tag_sums').execute()
    await db.deleteFrom('tag_sum_overflows').execute()
    await db.updateTable('record_sum_state').set({ summed_from: '', tagged_from: '' }).execute()
  }
  if (credentials) {
    await db.updateTable('provider_credentials').set({ sealed: leftBehind }).execute()
    await leaveSecretHeaders(db)
    // Never null: then a password alone would be enough where a code was asked for too.
    await db.updateTable('operators').set({ totp_sealed: leftBehind }).where('totp_sealed', 'is not', null).execute()
    await db.updateTable('alerts').set({ sealed: leftBehind }).execute()
    await db.deleteFrom('seal').execute()
    // Their keys have gone with it.
    await db.deleteFrom('bodies').execute()
  }
}

/** Nodes of a cluster may hold some in clear, of an earlier version. */
async function leaveSecretHeaders(db: Database): Promise<void> {
  const rows = await db.selectFrom('provider_revisions').select(['provider_id', 'number', 'headers_json']).execute()
  for (const { provider_id, number, headers_json } of rows) {
    const headers = Object.entries(readJson<Record<string, string>>(headers_json))
    if (!headers.some(([name, value]) => mayBeSecret(name, value))) continue
    const left = headers.map(([name, value]) => [name, mayBeSecret(name, value) ? hiddenHeader + leftBehind : value])
    await db
      .updateTable('provider_revisions')
      .set({ headers_json: writeJson(Object.fromEntries(left)) })
      .where('provider_id', '=', provider_id)
      .where('number', '=', number)
      .execute()
  }
}

async function leaveHeaders(db: Database, which: RawBuilder<unknown>): Promise<void> {
  await sql`update provider_revisions set headers_json = (
      select json_group_object(key, iif(${which}, ${hiddenHeader + leftBehind}, value)) from json_each(headers_json))
    where exists (select 1 from json_each(headers_json) where ${which})`.execute(db)
}

async function forget(db: Database, identity: string): Promise<void> {
  const [kind, id, part] = identity.split(':')
  if (kind === 'totp' && id !== undefined)
    await db.updateTable('operators').set({ totp_sealed: leftBehind }).where('id', '=', id).execute()
  else if (kind === 'alert' && id !== undefined)
    await db.updateTable('alerts').set({ sealed: leftBehind }).where('id', '=', id).execute()
  else if (kind === 'credential' && id !== undefined && part !== undefined)
    await db
      .updateTable('provider_credentials')
      .set({ sealed: leftBehind })
      .where('provider_id', '=', id)
      .where('id', '=', part)
      .execute()
  else if (kind === 'header' && id !== undefined && part !== undefined)
    await leaveHeaders(db, sql`provider_id = ${id} and key = ${part}`)
  else await db.deleteFrom('seal').where('name', '=', identity).execute()
  // Nothing opens what was sealed with that key.
  if (kind === 'bodies' && id !== undefined) await db.deleteFrom('bodies').where('key_id', '=', id).execute()
}

function refuseDamaged(database: Sqlite.Database): void {
  let found: unknown
  try {
    found = database.pragma('integrity_check(1)', { simple: true })
  } catch (error) {
    found = errorText(error)
  }
  if (found !== 'ok') throw new StoreRefused(`the database is damaged: ${String(found)}`)
  // It could stand in place of a table, and never come to its end.
  if (schemaOf(database, 'view').length > 0) throw new StoreRefused('the database has views, which spgw does not make')
}

/** Whoever wrote the file may have added triggers, which would go on changing what a gateway writes: all are made anew, as in `fresh`. */
export function renewTriggers(file: SqliteFile, fresh: SqliteFile): void {
  const database = open(file, { fileMustExist: true })
  const model = open(fresh, { fileMustExist: true })
  try {
    const drops = schemaOf(database, 'trigger').map(({ name }) => `drop trigger "${name.replaceAll('"', '""')}"`)
    const makes = schemaOf(model, 'trigger').map(({ sql }) => sql)
    database.transaction(() => database.exec([...drops, ...makes].join(';\n')))()
  } finally {
    model.close()
    database.close()
  }
}

function schemaOf(database: Sqlite.Database, type: 'trigger' | 'view') {
  return database.prepare('select name, sql from sqlite_schema where type = ?').all(type) as {
    name: string
    sql: string
  }[]
}

async function describe(db: Database): Promise<BackupContents> {
  const { rows } = await sql<BackupContents>`select
    (select max(name) from kysely_migration) as schema,
    (select count(*) from providers) as providers,
    (select count(*) from keys) as keys,
    (select count(*) from records) as records`.execute(db)
  const [contents] = rows
  if (contents === undefined) throw new StoreRefused('the database says nothing about itself')
  return contents
}
