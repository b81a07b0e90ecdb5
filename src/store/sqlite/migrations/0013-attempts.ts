import { type Kysely, sql } from 'kysely'

/**
 * Figures of providers count attempts: those of a record that made other than one, or whose one was not answered, stand in a column
 * of their own. Null: exactly one, which was answered. Older records count as such.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table records add column attempts_json text').execute(db)
}
