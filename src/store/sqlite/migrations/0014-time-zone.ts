import { type Kysely, sql } from 'kysely'

/** Days and months of budgets and statistics are those of this time zone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspace add column time_zone text not null default 'UTC'`.execute(db)
}
