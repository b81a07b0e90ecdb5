import { type Kysely, sql } from 'kysely'

/** What is used of budgets, by counter and day or month; and what requests that have not settled hold of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table spend (
    counter text not null, period text not null, amount integer not null, primary key (counter, period)
  ) without rowid`.execute(db)
  await sql`create index spend_by_period on spend (period)`.execute(db)
  await sql`create table open_holds (record_id text primary key, hold_json text not null) without rowid`.execute(db)
}
