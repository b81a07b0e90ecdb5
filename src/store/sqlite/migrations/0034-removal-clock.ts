import { type Kysely, sql } from 'kysely'

/**
 * One row, from the first look on: when the clock was last found right for removing what is old, and since when it has not been (epoch
 * milliseconds).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table removal_clock (seen_at integer not null, doubted_at integer)`.execute(db)
}
