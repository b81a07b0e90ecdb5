import { type Kysely, sql } from 'kysely'

/**
 * Of a file that a batch wrote: the batch. And which batches' usage is recorded already: in a table of its own, since a batch may be
 * deleted, and forgotten by one thread's journal, before another's journal has told of its results.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table objects add column batch_id text`.execute(db)
  await sql`create table counted_batches (id text not null, provider_id text not null, credential_id text not null,
    request_id text not null, counted_at text not null,
    primary key (id, provider_id, credential_id)) strict, without rowid`.execute(db)
}
