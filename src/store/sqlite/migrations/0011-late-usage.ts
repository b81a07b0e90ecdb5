import { type Kysely, sql } from 'kysely'

/**
 * What is counted at its end besides batches; what the lines of a batch's input file name; and handles of sessions, which age like
 * answers do.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table counted_batches add column type text not null default 'batch'`.execute(db)
  await sql`create index counted_by_age on counted_batches (counted_at)
    where type in ('response', 'interaction')`.execute(db)
  await sql`create table batch_inputs (file_id text not null, provider_id text not null, credential_id text not null,
    input_json text not null, primary key (file_id, provider_id, credential_id)) strict, without rowid`.execute(db)
  await sql`create trigger forget_batch_input after delete on objects when old.type = 'file' begin
    delete from batch_inputs where file_id = old.id and provider_id = old.provider_id
    and credential_id = old.credential_id; end`.execute(db)
  await sql`drop index objects_by_age`.execute(db)
  await sql`create index objects_by_age on objects (created_at)
    where type in ('response', 'item', 'interaction', 'chat_completion', 'session_handle')`.execute(db)
}
