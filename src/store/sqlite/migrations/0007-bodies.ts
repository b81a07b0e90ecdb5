import { type Kysely, sql } from 'kysely'

/**
 * Bodies that policies had kept. Beside the records and not in them, so that no scan of those reads them; by id, which
 * carries the time, they are found and removed when theirs is over. What seals their keys stands in `seal`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table bodies (id text not null, part text not null, mode text not null, type text, bytes integer not null,
    truncated integer not null, masked integer not null, key_id text not null, sealed blob not null,
    primary key (id, part)) strict`.execute(db)
}
