import { idTime } from '../../core/ids.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { FoundRecords, RecordFilter } from '../api.ts'
import type { Database } from '../schema.ts'
import { selectMatching } from './record-filter.ts'
import { chooseLabels } from './record-labels.ts'
import { readRecords } from './record-rows.ts'
import { recordWindows } from './record-windows.ts'

/**
 * A page of what the filter lets through, newest first. What takes longer than that to find is left to the next page: this one
 * then says how far back it has looked.
 */
export async function searchRecords(db: Database, filter: RecordFilter, withinMs: number): Promise<FoundRecords> {
  const begun = performance.now()
  const found: RequestRecord[] = []
  const labels = await chooseLabels(db, filter)
  if (labels?.numbers.length === 0) return { records: found, before: null, searchedUntil: null }
  for await (const window of recordWindows(db, filter, labels)) {
    const query = selectMatching(db, filter, labels, window).select(['id', 'record_json'])
    const rows = await query
      .orderBy('id', 'desc')
      .limit(filter.limit - found.length)
      .execute()
    found.push(...(await readRecords(db, rows)))
    if (found.length >= filter.limit) return { records: found, before: found.at(-1)?.id ?? null, searchedUntil: null }
    const reached = idTime(window.from)
    if (reached !== null && performance.now() - begun > withinMs)
      return { records: found, before: window.from, searchedUntil: new Date(reached).toISOString() }
  }
  return { records: found, before: null, searchedUntil: null }
}
