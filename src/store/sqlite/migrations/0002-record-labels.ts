import { type Kysely, sql } from 'kysely'

/** Columns that a few hundred combinations fill, whatever the number of records. */
const labels = ['lane', 'project', 'environment', 'key_id', 'key_name', 'provider', 'model']
const kept = [
  'status',
  'error_code',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'usd',
  'duration_ms',
  'record_json',
]

/**
 * A record's labels move into a table of their own, and its row names them by number. When a label occurs at all is
 * known by periods (the same first 11 characters of an id), so that a search skips the rest.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const run = async (text: string) => void (await sql.raw(text).execute(db))
  await run(`create table record_labels (number integer primary key, ${labels.map((name) => `${name} text`)}) strict`)
  await run(`insert into record_labels (${labels}) select distinct ${labels} from records`)
  await run('create index record_labels_key on record_labels (key_id, model)')
  await run(`create table labelled_records (
    id text primary key not null, boot text not null, state text not null, time text not null, label integer not null,
    status integer, error_code text, input integer, output integer, cache_read integer, cache_write integer,
    reasoning integer, usd real, duration_ms real, record_json text not null) strict`)
  const same = labels.map((name) => `l.${name} is r.${name}`).join(' and ')
  await run(`insert into labelled_records (id, boot, state, time, label, ${kept})
    select r.id, r.boot, r.state, r.time, l.number, ${kept.map((name) => `r.${name}`)}
    from records r join record_labels l on ${same} order by r.id`)
  await run('drop table records')
  await run('alter table labelled_records rename to records')
  // An index on (label, id) would be written to all over for every record; this one is once a label and half minute.
  await run(`create table label_periods (label integer not null, period text not null, primary key (label, period))
    strict, without rowid`)
  await run('insert into label_periods (label, period) select distinct label, substr(id, 1, 11) from records')
  await run('create index records_error on records (error_code, id) where error_code is not null')
  await run("create index records_admitted on records (boot, id) where state = 'admitted'")
}
