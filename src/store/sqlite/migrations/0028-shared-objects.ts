import { type Kysely, sql } from 'kysely'

/**
 * On a node of a cluster that shares its records: what was stored besides records and is to be shipped with them, and how far
 * what stood here before has been noted. A member of an earlier version begins with it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run('alter table outbox add column changes_json text')
  await run('alter table outbox_state add column object_history text')
  await run(`update outbox_state set object_history = '["objects","","","",""]'`)
}
