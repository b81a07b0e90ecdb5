import { type Kysely, sql } from 'kysely'

const key = 'span, start, label, state, status, error_code'

/**
 * Sums of the records that have ended, by hour, day and week (UTC), label and outcome. `status` 0 and `error_code` '' stand for none.
 * Latencies lie beside the sums, so that a look for what occurs when does not read them. What is here already is summed later, in
 * slices: until then only ids from `record_sum_state.summed_from` on are in the sums.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  const columns = `span text not null, start text not null, label integer not null, state text not null,
    status integer not null, error_code text not null`
  await run(`create table record_sums (${columns}, requests integer not null, input integer not null,
    output integer not null, cache_read integer not null, cache_write integer not null, reasoning integer not null,
    usd_nano integer not null, priced integer not null, primary key (${key})) strict, without rowid`)
  await run(`create table record_latencies (${columns}, counts blob not null, primary key (${key}))
    strict, without rowid`)
  await run('create table record_sum_state (summed_from text not null) strict')
  await run(`insert into record_sum_state (summed_from) select coalesce(max(id) || '~', '') from records`)
}
