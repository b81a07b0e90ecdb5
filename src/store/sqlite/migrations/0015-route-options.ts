import { type Kysely, sql } from 'kysely'

/** What a route may do besides; a new option needs no new column. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table routes add column options_json text not null default '{}'`.execute(db)
}
