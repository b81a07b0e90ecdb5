import { type Kysely, sql } from 'kysely'

/** Who is told of what, what each was told of already, and the log of deliveries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table alerts (
    id text primary key, name text not null unique, shown_url text not null, format text not null,
    events_json text not null, active integer not null, sealed text not null, created_at text not null
  )`.execute(db)
  await sql`create table alert_crossings (
    alert_id text not null references alerts (id) on delete cascade, crossing text not null, time text not null,
    primary key (alert_id, crossing)
  ) without rowid`.execute(db)
  await sql`create table alert_deliveries (
    id text primary key, alert_id text not null references alerts (id) on delete cascade, type text not null,
    message_json text not null, state text not null, tries integer not null, created_at text not null,
    next_at text, ended_at text, status integer, reason text
  )`.execute(db)
  await sql`create index alert_deliveries_due on alert_deliveries (next_at) where next_at is not null`.execute(db)
  await sql`create index alert_deliveries_of on alert_deliveries (alert_id, id)`.execute(db)
}
