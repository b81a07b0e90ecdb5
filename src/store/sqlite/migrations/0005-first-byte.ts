import { type Kysely, sql } from 'kysely'

/** The time to the first byte gets a column of its own, and what was found of a provider is kept as it changes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run('alter table records add column first_byte_ms real')
  // A record that cannot be read shows so by itself, and stops nothing here.
  await run(`update records set first_byte_ms = json_extract(record_json, '$.first_byte_ms')
    where json_valid(record_json) and json_type(record_json, '$.first_byte_ms') in ('integer', 'real')`)
  await run(`create table provider_states (provider_id text not null, time text not null, state text not null,
    reason text, primary key (provider_id, time)) strict, without rowid`)
}
