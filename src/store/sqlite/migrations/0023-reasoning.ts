import { type Kysely, sql } from 'kysely'

/** Sealed reasoning of turns that called a tool, by a digest that only the data plane can make. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table reasoning (name text not null primary key, expires_at integer not null, sealed text not null) strict, without rowid`.execute(
    db,
  )
  await sql`create index reasoning_by_age on reasoning (expires_at)`.execute(db)
}
