import { valueAt } from '../show-value.ts'

/** Of groups of `requests.stats` in their order the first, or by day the latest days, unless they were to be sorted. */
export function limitGroups<Row>(
  rows: readonly Row[],
  { by, sort }: { by?: unknown; sort?: unknown },
  limit: number,
): readonly Row[] {
  if (sort !== undefined) return rows.slice(0, limit)
  const place = String(by)
    .split(',')
    .findIndex((way) => way.trim() === 'day')
  if (place < 0) return rows.slice(0, limit)
  const days = Map.groupBy(rows, (row) => Object(valueAt(row, 'groups'))[place])
  const latest = new Set([...days.values()].reverse().flat().slice(0, limit))
  return rows.filter((row) => latest.has(row))
}
