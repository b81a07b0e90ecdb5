import { type Kysely, sql } from 'kysely'

/** What an account at a provider may be used for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table providers add column limits_json text not null default '{}'`.execute(db)
}
