import { type Kysely, sql } from 'kysely'

/**
 * Prices that operators set or imported; `provider_id` is '' where a price holds for every provider, since a key's columns are
 * never null. The one row of `price_state` counts changes, and has the table that was put in the place of the shipped one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table prices (model text not null, provider_id text not null, price_json text not null,
    primary key (model, provider_id)) strict, without rowid`.execute(db)
  await sql`create table price_state (revision integer not null, table_json text) strict`.execute(db)
  await sql`insert into price_state (revision, table_json) values (0, null)`.execute(db)
}
