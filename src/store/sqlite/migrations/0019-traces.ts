import { type Kysely, sql } from 'kysely'

/** Records whose traces wait to be exported, in the order in which they ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table pending_traces (sequence integer primary key, record_id text not null unique)`.execute(db)
}
