import type pg from 'pg'
import { changeLatencies } from '../../store/records/latency-blob.ts'
import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { type LabelledChange, labelColumns } from '../../store/replica/outbox-types.ts'
import type { RecordChanges } from './label-sums.ts'

/**
 * The most sums by tag that are kept for a node's day. Clients choose tags: with nearly as many tags as records, that day is read from its
 * records.
 */
const mostTagRows = 5000

/**
 * Runs in the transaction that changes the records. No two nodes share a row of sums, so what is read here is current when it is written.
 */
export async function writeSums(client: pg.Client, { sums, tags }: RecordChanges): Promise<void> {
  if (sums.length === 0) return
  await writeRecordSums(client, sums.toSorted(inOrder))
  if (tags.length > 0) await writeTagSums(client, tags.toSorted(inOrder))
}

/**
 * Also writes the totals of all records that were counted by tag, tagged or not. Where these differ from all records, the sums by tag are
 * incomplete.
 */
async function writeRecordSums(client: pg.Client, changes: readonly LabelledChange[]): Promise<void> {
  const keys = [changes.map(({ change: { key } }) => key[0]), ...keysOf(changes)]
  const { rows } = await client.query<{ place: string; latencies: Buffer | null }>(
    `select k.place, s.latencies from ${unnested(keyTypes)} with ordinality as k (${keyNames}, place)
     join spgw.record_sums s using (span, start, node, state, status, error_code) where s.label = md5(k.text)`,
    keys,
  )
  const known = new Map(rows.map(({ place, latencies }) => [Number(place) - 1, latencies]))
  await client.query(
    `with k as (select * from ${unnested([...keyTypes, ...valueTypes])} as k (${keyNames}, ${valueNames})),
       days as (insert into spgw.tag_days (start, node, ${sumAmounts})
         select start, node, ${sumAmounts.map((name) => `sum(${name})::bigint`)} from k where span = 'day' group by start, node
         on conflict (start, node) do update set ${added('tag_days')})
     insert into spgw.record_sums (span, start, node, label, state, status, error_code, ${valueNames})
     select span, start, node, md5(text), state, status, error_code, ${valueNames} from k
     on conflict (span, start, node, label, state, status, error_code) do update set latencies = excluded.latencies,
       ${added('record_sums')}`,
    [...keys, ...valuesOf(changes, (place) => known.get(place) ?? null)],
  )
}

/** Sums by tag are kept by day. */
async function writeTagSums(client: pg.Client, all: readonly LabelledChange[]): Promise<void> {
  const { rows } = await client.query<{ place: string; latencies: Buffer | null }>(
    `select k.place, s.latencies from ${unnested(tagKeyTypes)} with ordinality as k (${tagKeyNames}, place)
     join spgw.tag_days d using (start, node) left join spgw.tag_sums s on s.start = k.start and s.node = k.node
       and s.label = md5(k.text) and s.state = k.state and s.status = k.status and s.error_code = k.error_code
       and md5(s.tag) = md5(k.tag) where not d.overflow order by k.place`,
    tagKeysOf(all),
  )
  const changes = rows.flatMap(({ place }) => all[Number(place) - 1] ?? [])
  if (changes.length === 0) return
  const { rows: days } = await client.query<{ start: string; node: string; rows: number }>(
    `with k as (select * from ${unnested([...tagKeyTypes, ...valueTypes])} as k (${tagKeyNames}, ${valueNames})),
       written as (insert into spgw.tag_sums as t (start, node, label, state, status, error_code, tag, ${valueNames})
         select start, node, md5(text), state, status, error_code, tag, ${valueNames} from k
         on conflict (start, node, label, state, status, error_code, md5(tag)) do update
           set latencies = excluded.latencies, ${added('t')}
         returning start, node, (t.xmax = 0) as is_new)
     update spgw.tag_days d set rows = d.rows + w.more
       from (select start, node, count(*) filter (where is_new) as more from written group by start, node) w
       where d.start = w.start and d.node = w.node returning d.start, d.node, d.rows`,
    [...tagKeysOf(changes), ...valuesOf(changes, (place) => rows[place]?.latencies ?? null)],
  )
  for (const { start, node } of days.filter(({ rows }) => rows > mostTagRows)) {
    await client.query('update spgw.tag_days set rows = 0, overflow = true where start = $1 and node = $2', [
      start,
      node,
    ])
    await client.query('delete from spgw.tag_sums where start = $1 and node = $2', [start, node])
  }
}

/** Removes rows of sums, among those changed, that no record belongs to any more. */
export async function removeEmptySums(client: pg.Client, { tags }: RecordChanges, node: string | null): Promise<void> {
  await client.query('delete from spgw.record_sums where requests = 0 and node = coalesce($1, node)', [node])
  if (tags.length === 0) return
  const [starts, nodes] = tagKeysOf(tags)
  await client.query(
    `with gone as (delete from spgw.tag_sums t using (select distinct * from unnest($1::text[], $2::text[])) as k (start, node)
         where t.start = k.start and t.node = k.node and t.requests = 0 returning t.start, t.node)
     update spgw.tag_days d set rows = d.rows - g.fewer
       from (select start, node, count(*) as fewer from gone group by start, node) g
       where d.start = g.start and d.node = g.node`,
    [starts, nodes],
  )
}

const valueNames = [...labelColumns, ...sumAmounts, 'latencies']
const valueTypes = [
  ...labelColumns.map((name) => (name === 'shadow' ? 'smallint' : 'text')),
  ...sumAmounts.map(() => 'bigint'),
  'bytea',
]

function valuesOf(changes: readonly LabelledChange[], latenciesOf: (place: number) => Buffer | null): unknown[][] {
  return [
    ...labelColumns.map((_, column) => changes.map(({ values }) => values[column] ?? null)),
    ...sumAmounts.map((name) => changes.map(({ change }) => change[name])),
    changes.map(({ change }, place) => changeLatencies(latenciesOf(place), change.latencies)),
  ]
}

const added = (table: string) => sumAmounts.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(', ')

const keyNames = 'span, start, node, text, state, status, error_code'
const keyTypes = ['text', 'text', 'text', 'text', 'text', 'int', 'text']

/** Without the span. */
function keysOf(changes: readonly LabelledChange[]): unknown[][] {
  return [
    changes.map(({ change: { key } }) => key[1]),
    changes.map(({ node }) => node),
    changes.map(({ label }) => label),
    changes.map(({ change: { key } }) => key[3]),
    changes.map(({ change: { key } }) => key[4]),
    changes.map(({ change: { key } }) => key[5]),
  ]
}

const tagKeyNames = 'start, node, text, state, status, error_code, tag'
const tagKeyTypes = [...keyTypes.slice(1), 'text']

function tagKeysOf(changes: readonly LabelledChange[]): unknown[][] {
  return [...keysOf(changes), changes.map(({ change: { tag } }) => writtenTag(tag))]
}

/** As JSON has it between its quotes: PostgreSQL cannot store every text of a client. */
function writtenTag(tag: string): string {
  return JSON.stringify(tag).slice(1, -1)
}

/** The same order on every node. */
function inOrder(one: LabelledChange, other: LabelledChange): number {
  return sortKey(one) < sortKey(other) ? -1 : 1
}

function sortKey({ node, label, change: { key, tag } }: LabelledChange): string {
  const [span, start, , state, status, error] = key
  return [span, start, node, label, state, status, error, tag].join('\n')
}

function unnested(types: readonly string[]): string {
  return `unnest(${types.map((type, place) => `$${place + 1}::${type}[]`).join(', ')})`
}
