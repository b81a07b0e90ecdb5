import type { RecordFilter, StatsBy, StatsRow } from './api.ts'
import { DurationCounts } from './duration-counts.ts'
import { recordWindows, selectMatching } from './record-filter.ts'
import { readTags } from './record-json.ts'
import { chooseLabels, readLabels } from './record-labels.ts'
import type { Database, RecordLabelsRow, RecordRow } from './schema.ts'

const columns = [
  'time',
  'state',
  'label',
  'status',
  'error_code',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'usd',
  'duration_ms',
] as const satisfies (keyof RecordRow)[]

type StatsSource = Pick<RecordRow, (typeof columns)[number]> & Partial<Pick<RecordRow, 'record_json'>>

interface Group {
  row: StatsRow
  durations: DurationCounts
}

/**
 * Summed here and not in SQL: the records are read window by window, and percentiles are not the same SQL on any two
 * engines. A group of keys is one key, under its latest name. What has no such field counts under `-`. A record with
 * several tags counts under each of them.
 */
export async function recordStats(db: Database, filter: RecordFilter, by: StatsBy): Promise<StatsRow[]> {
  const groups = new Map<string, Group>()
  const { before: _before, ...unpaged } = filter
  const chosen = await chooseLabels(db, unpaged)
  if (chosen?.numbers.length === 0) return []
  let labels = await readLabels(db)
  for await (const window of recordWindows(db, unpaged, chosen)) {
    const matching = selectMatching(db, unpaged, chosen, window).select(columns).orderBy('id', 'desc')
    // Tags stand in the record alone: read, and parsed, only when they are asked for.
    const rows: StatsSource[] = await (by === 'tag' ? matching.select('record_json') : matching).execute()
    // Records go on coming in, with labels of their own.
    if (rows.some(({ label }) => !labels.has(label))) labels = await readLabels(db)
    for (const row of rows) for (const group of groupsOf(row, labels.get(row.label), by)) add(groups, row, group)
  }
  const rows = [...groups.values()].map(finish)
  return rows.sort((left, right) =>
    by === 'day'
      ? left.group.localeCompare(right.group)
      : right.requests - left.requests || left.group.localeCompare(right.group),
  )
}

interface GroupName {
  id: string
  name: string
}

function groupsOf(source: StatsSource, labels: RecordLabelsRow | undefined, by: StatsBy): GroupName[] {
  const plain = (name: string | null | undefined) => [{ id: name ?? '-', name: name ?? '-' }]
  switch (by) {
    case 'key':
      return [{ id: labels?.key_id ?? '-', name: labels?.key_name ?? '-' }]
    case 'day':
      return plain(source.time.slice(0, 10))
    case 'total':
      return plain('total')
    case 'tag':
      return tagsOf(source).flatMap(plain)
    case 'model':
    case 'provider':
    case 'project':
      return plain(labels?.[by])
  }
}

/** `name=value` each; one null for a record without any. */
function tagsOf({ record_json }: StatsSource): (string | null)[] {
  if (record_json === undefined) return [null]
  const tags = Object.entries(readTags(record_json))
  return tags.length === 0 ? [null] : tags.map(([name, value]) => `${name}=${value}`)
}

function add(groups: Map<string, Group>, source: StatsSource, { id, name }: GroupName): void {
  const group = groups.get(id) ?? { row: emptyRow(name), durations: new DurationCounts() }
  groups.set(id, group)
  const { row } = group
  row.requests++
  if (source.error_code !== null || (source.status ?? 0) >= 400) row.errors++
  if (source.state === 'interrupted') {
    row.interrupted++
    row.interrupted_tokens += (source.input ?? 0) + (source.output ?? 0)
  }
  // What is under way has its hold on the record; only an end makes it a charge.
  if (source.state !== 'admitted')
    for (const column of ['input', 'output', 'cache_read', 'cache_write', 'reasoning'] as const)
      row[column] += source[column] ?? 0
  if (source.usd !== null) row.usd = (row.usd ?? 0) + source.usd
  if (source.duration_ms !== null) group.durations.add(source.duration_ms)
}

function emptyRow(group: string): StatsRow {
  return {
    group,
    requests: 0,
    errors: 0,
    interrupted: 0,
    interrupted_tokens: 0,
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    usd: null,
    duration_p50_ms: null,
    duration_p95_ms: null,
    duration_p99_ms: null,
  }
}

function finish({ row, durations }: Group): StatsRow {
  return {
    ...row,
    // Sums of binary fractions: a billionth of a dollar is below every price.
    usd: row.usd === null ? null : Math.round(row.usd * 1e9) / 1e9,
    duration_p50_ms: durations.percentile(0.5),
    duration_p95_ms: durations.percentile(0.95),
    duration_p99_ms: durations.percentile(0.99),
  }
}
