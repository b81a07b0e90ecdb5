import type { RecordFilter, StatsBy, StatsRow } from '../api.ts'
import type { Database } from '../schema.ts'
import { groupsOf } from './record-groups.ts'
import { scanRecords } from './record-scan.ts'
import { RecordAdder } from './record-sums.ts'

/**
 * Summed here and not in SQL: the records are read window by window, and percentiles are not the same SQL on any two
 * engines. A group of keys is one key, under its latest name. What has no such field counts under `-`. A record with
 * several tags counts under each of them.
 */
export async function recordStats(db: Database, filter: RecordFilter, by: StatsBy): Promise<StatsRow[]> {
  const groups = new Map<string, { name: string; adder: RecordAdder }>()
  for await (const { rows, labels } of scanRecords(db, filter, by === 'tag')) {
    for (const row of rows)
      for (const { id, name } of groupsOf(row, labels.get(row.label), by)) {
        const group = groups.get(id) ?? { name, adder: new RecordAdder() }
        groups.set(id, group)
        group.adder.add(row)
      }
  }
  const rows = [...groups].map(([id, { name, adder }]) => ({ id, group: name, ...adder.finish() }))
  return rows.sort((left, right) =>
    by === 'day'
      ? left.group.localeCompare(right.group)
      : right.requests - left.requests || left.group.localeCompare(right.group),
  )
}
