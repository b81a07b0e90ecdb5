import { type Kysely, sql } from 'kysely'

/**
 * One row, from the first look on: when the clock was seen last, and until when it is not believed where it had gone ahead (epoch
 * milliseconds).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table removal_clock (id integer primary key, seen integer, held integer)`.execute(db)
}
