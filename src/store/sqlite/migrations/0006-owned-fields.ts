import { type Kysely, sql } from 'kysely'

/** Which fields of which resources a configuration file decides: `field` is a path into what `show` prints. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table owned_fields (resource_id text not null, field text not null, owner text not null,
    primary key (resource_id, field)) strict, without rowid`.execute(db)
}
