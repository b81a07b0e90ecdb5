import { type Kysely, sql } from 'kysely'

/**
 * What a request may come to by now, where it holds more than when it was admitted; and what batches hold of budgets until it is known
 * what they used.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table open_holds add column tokens_json text`.execute(db)
  await sql`create table batch_holds (
    batch_id text not null, provider_id text not null, credential_id text not null, created_at text not null,
    ended_at text, held_json text not null, primary key (batch_id, provider_id, credential_id)
  ) strict, without rowid`.execute(db)
}
