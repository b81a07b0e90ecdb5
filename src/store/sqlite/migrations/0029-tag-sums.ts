import { type Kysely, sql } from 'kysely'

/**
 * Sums of days and weeks by tag. What is here already is in none of them: until it is too old and removed, it is read record by
 * record. A day or week with more rows than are kept stands in `tag_sum_overflows`, and is read so as well.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table tag_sums (span text not null, start text not null, label integer not null,
    state text not null, status integer not null, error_code text not null, tag text not null,
    requests integer not null, input integer not null, output integer not null, cache_read integer not null,
    cache_write integer not null, reasoning integer not null, usd_nano integer not null, priced integer not null,
    counts blob not null, primary key (span, start, label, state, status, error_code, tag)) strict, without rowid`)
  await run(`create table tag_sum_overflows (span text not null, start text not null, primary key (span, start))
    strict, without rowid`)
  await run(`alter table record_sum_state add column tagged_from text not null default ''`)
  await run(`update record_sum_state set tagged_from = (select coalesce(max(id) || '~', '') from records)`)
}
