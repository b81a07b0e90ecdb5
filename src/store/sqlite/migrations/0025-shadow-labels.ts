import { type Kysely, sql } from 'kysely'

/**
 * Copies for shadow targets have labels of their own, so that records and sums alike say what no client sent. Those that are stored
 * already keep theirs: only their text says what they are, and reading millions of texts would hold up the start.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table record_labels add column shadow integer not null default 0`.execute(db)
}
