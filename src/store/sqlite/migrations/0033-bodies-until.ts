import { type Kysely, sql } from 'kysely'

/**
 * Until when policies keep a captured body (epoch milliseconds); null: as long as the settings say, as of all that were captured before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table bodies add column until integer`.execute(db)
  await sql`create index bodies_until on bodies (until) where until is not null`.execute(db)
}
