import { type Kysely, sql } from 'kysely'

/**
 * On a node of a cluster that shares its records: what background work used, until PostgreSQL has said which node counts it. What a
 * member of an earlier version has counted, and what its batches hold, is noted for the others.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table waiting_usage (
    number integer primary key autoincrement, batch_id text not null, provider_id text not null,
    credential_id text not null, noted_at text not null, kind text not null, entry_json text not null,
    unique (batch_id, provider_id, credential_id)) strict`)
  await run(`update outbox_state set object_history = '["counted","","",""]' where object_history is null`)
}
