import { durationStep } from '../../store/records/duration-counts.ts'
import { changeLatencies, firstBytePlace } from '../../store/records/latency-blob.ts'
import { nameTags } from '../../store/records/record-json.ts'
import type { Counted, SumRow } from '../../store/records/record-source.ts'
import type { SpanPart } from '../../store/records/sum-spans.ts'
import { labelColumns } from '../../store/replica/outbox-types.ts'
import { addFull, asJson, SqlCondition } from './condition.ts'
import type { GroupedRow, GroupedSums, Summands } from './grouped-sums.ts'
import type { ReadingFilter } from './reading.ts'

/** Milliseconds, four bytes each. */
interface Milliseconds {
  durations: Buffer | null
  first_bytes: Buffer | null
}

/** `tag`: the text that contains the tags. */
export type RecordsRow = Omit<GroupedRow, 'latencies' | 'fewer'> & Milliseconds

/** Records in the form of sums. */
export function recordSummands(
  filter: ReadingFilter,
  { from, to }: Pick<SpanPart, 'from' | 'to'>,
  { withTags, withRoute }: { withTags: boolean; withRoute: boolean },
): Summands {
  const condition = new SqlCondition()
  const edges = {
    ...(Number.isFinite(from) && { since: new Date(from).toISOString() }),
    ...(Number.isFinite(to) && { until: new Date(to).toISOString() }),
  }
  addFull(condition, { ...filter, ...edges })
  const tokens = ['input', 'output', 'cache_read', 'cache_write', 'reasoning'].map(
    (name) => `coalesce(${name}, 0) as ${name}`,
  )
  const columns = [
    ...['time as start', 'node', 'state', 'status', 'error_code', ...labelColumns, '1 as requests', ...tokens],
    ...['coalesce(floor(usd * 1e9 + 0.5), 0) as usd_nano', '(usd is not null)::int as priced'],
    ...['duration_ms', 'first_byte_ms', withTags ? 'tags as tag' : 'null as tag'],
    ...(withRoute ? [`${asJson('record_json')} ->> 'route' as route`] : []),
  ]
  const table = `(select ${columns.join(', ')} from spgw.records ${withTags ? withTagText : ''} where ${condition.text}) s`
  const whole = new SqlCondition()
  whole.values.push(...condition.values)
  return { table, condition: whole }
}

/** A record with several tags yields a row for each. */
export function countRecords(sums: GroupedSums, rows: readonly RecordsRow[]): Counted {
  const counted = rows.flatMap(({ tag, durations, first_bytes, ...row }): SumRow[] => {
    const sum = { ...row, label: sums.labels.number(row), latencies: countLatencies({ durations, first_bytes }) }
    const tags = tag === null ? [] : nameTags(tag)
    return tags.length === 0 ? [sum] : tags.map((each) => ({ ...sum, tag: each }))
  })
  return { rows: counted, labels: sums.labels.known }
}

const numberBytes = 4

function countLatencies({ durations, first_bytes }: Milliseconds): Buffer {
  const counts = new Map<number, number>()
  const add = (joined: Buffer | null, placeOf: (milliseconds: number) => number) => {
    for (let at = 0; joined !== null && at < joined.length; at += numberBytes) {
      const place = placeOf(joined.readInt32BE(at))
      counts.set(place, (counts.get(place) ?? 0) + 1)
    }
  }
  add(durations, durationStep)
  add(first_bytes, (milliseconds) => firstBytePlace(durationStep(milliseconds)))
  return changeLatencies(null, counts)
}

/**
 * Most records end with their tags, which are cut out there, since parsing every record takes long. For other records the whole text is
 * returned. Nothing is unescaped, because PostgreSQL cannot represent every character.
 */
const withTagText = `cross join lateral (select split_part(record_json, ',"tags":{', -1) as ending offset 0) e
  cross join lateral (select case when ending = '}}' then null
    when ending ~ '^("([^"\\\\]|\\\\.)*":"([^"\\\\]|\\\\.)*",?)+\\}\\}$' then '{"tags":{' || ending
    else record_json end as tags offset 0) t`
