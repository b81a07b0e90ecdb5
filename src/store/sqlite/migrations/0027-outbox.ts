import { type Kysely, sql } from 'kysely'

/**
 * On a node of a cluster that shares its records: which of them PostgreSQL has not been heard to have. Numbers are never used
 * twice, and the mark tells two batches of one number apart, should this database lose its last changes with the machine.
 * Nothing stands in these tables otherwise.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table outbox (
    sequence integer primary key autoincrement, mark text not null default (lower(hex(randomblob(8)))),
    least text not null, records integer not null, ids_json text not null, time text not null) strict`)
  await run('create index outbox_least on outbox (least)')
  await run(`create table outbox_state (
    member text primary key not null, history text, sequence integer not null, mark text not null)
    strict, without rowid`)
}
