import type { RecordFilter, StatsBy, StatsRow } from '../api.ts'
import type { Database } from '../schema.ts'
import { type GroupName, groupsOf } from './record-groups.ts'
import { scanRecords } from './record-scan.ts'
import { RecordAdder } from './record-sums.ts'

/**
 * Summed here and not in SQL: the records are read window by window, and percentiles are not the same SQL on any two
 * engines. A group of keys is one key, under its latest name. What has no such field counts under `-`. A record with
 * several tags counts under each of them.
 */
export async function recordStats(db: Database, filter: RecordFilter, by: StatsBy | StatsBy[]): Promise<StatsRow[]> {
  const ways = [by].flat()
  const groups = new Map<string, { names: string[]; adder: RecordAdder }>()
  for await (const { rows, labels } of scanRecords(db, filter, ways.includes('tag'))) {
    for (const row of rows)
      for (const found of combine(ways.map((way) => groupsOf(row, labels.get(row.label), way)))) {
        const id = found.map((one) => one.id).join('\n')
        const group = groups.get(id) ?? { names: found.map(({ name }) => name), adder: new RecordAdder() }
        groups.set(id, group)
        group.adder.add(row)
      }
  }
  const rows = [...groups].map(([id, { names, adder }]) => ({
    id,
    group: names.join(', '),
    groups: names,
    ...adder.finish(),
  }))
  const byDay = ways.indexOf('day')
  return rows.sort(
    (left, right) =>
      (byDay < 0 ? 0 : (left.groups[byDay] ?? '').localeCompare(right.groups[byDay] ?? '')) ||
      right.requests - left.requests ||
      left.group.localeCompare(right.group),
  )
}

/** Each group of the first way with each of the second. */
function combine(ways: readonly GroupName[][]): GroupName[][] {
  return ways.reduce<GroupName[][]>(
    (sofar, groups) => sofar.flatMap((one) => groups.map((group) => [...one, group])),
    [[]],
  )
}
