import { type Kysely, sql } from 'kysely'

/** Answers that routes give again, sealed. How many bytes they have is kept up to date by triggers, so that nobody has to add them up. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table cached_answers (
    number integer primary key, key text not null unique, route_id text not null, expires_at integer not null,
    key_id text not null, bytes integer not null, sealed blob not null
  )`.execute(db)
  await sql`create index cached_answers_expiry on cached_answers (expires_at)`.execute(db)
  await sql`create index cached_answers_route on cached_answers (route_id)`.execute(db)
  await sql`create table cache_size (answers integer not null, bytes integer not null)`.execute(db)
  await sql`insert into cache_size (answers, bytes) values (0, 0)`.execute(db)
  await sql`create trigger cached_answer_added after insert on cached_answers begin
    update cache_size set answers = answers + 1, bytes = bytes + new.bytes; end`.execute(db)
  await sql`create trigger cached_answer_removed after delete on cached_answers begin
    update cache_size set answers = answers - 1, bytes = bytes - old.bytes; end`.execute(db)
}
