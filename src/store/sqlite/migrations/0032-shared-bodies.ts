import { type Kysely, sql } from 'kysely'

/**
 * On a node of a cluster that shares its records: which captured bodies are to be shipped. A member of an earlier version, which
 * shipped none, begins with all that it has.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run('alter table outbox add column bodies_json text')
  await run('alter table outbox_state add column body_history text')
  await run("update outbox_state set body_history = '~'")
}
