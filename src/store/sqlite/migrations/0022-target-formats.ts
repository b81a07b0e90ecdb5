import { type Kysely, sql } from 'kysely'

/** In which format a target is asked; null: the call's own where its provider has it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table route_targets add column format text`.execute(db)
}
