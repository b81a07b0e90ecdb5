import { idTime } from '../../core/ids.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { FoundRecords, RecordFilter, Tables } from '../api.ts'
import type { Database } from '../schema.ts'
import { attemptSeries } from './attempt-series.ts'
import { idAt } from './id-time.ts'
import { recordAttempts } from './record-attempts.ts'
import { selectMatching } from './record-filter.ts'
import { chooseLabels } from './record-labels.ts'
import { readRecords } from './record-rows.ts'
import { scanRecords } from './record-scan.ts'
import { recordSeries } from './record-series.ts'
import type { RecordSource } from './record-source.ts'
import { recordStats } from './record-stats.ts'
import { recordTargets } from './record-targets.ts'
import { recordUsage } from './record-usage.ts'
import { recordWindows } from './record-windows.ts'
import { repriceRecords } from './reprice.ts'
import { scanTotals } from './sum-scan.ts'

export function recordsTable(db: Database): Tables['records'] {
  const source: RecordSource = {
    records: (filter, withText) => scanRecords(db, filter, withText),
    totals: (filter, question) => scanTotals(db, filter, question),
  }
  return {
    list: async (filter) => (await searchRecords(db, filter, Number.POSITIVE_INFINITY)).records,
    search: (filter, withinMs) => searchRecords(db, filter, withinMs),
    get: (id) => getRecord(db, id),
    stats: (filter, by) => recordStats(source, filter, by),
    usage: (filter, lately) => recordUsage(source, filter, lately),
    series: (filter, question) => recordSeries(source, filter, question),
    attemptSeries: (filter, question) => attemptSeries(source, filter, question),
    attempts: (filter) => recordAttempts(source, filter),
    targets: (filter, notIn) => recordTargets(source, filter, notIn),
    reprice: (costs) => repriceRecords(db, costs),
  }
}

async function getRecord(db: Database, id: string): Promise<RequestRecord | null> {
  const known = await db.selectFrom('records').select(['id', 'record_json']).where('id', '=', id).executeTakeFirst()
  const row = known ?? (await findShared(db, id))
  return row ? ((await readRecords(db, [row]))[0] ?? null) : null
}

/** The record that stood for others at the moment the id was made (contract.md rule 16); the latest begun, if there are several. */
async function findShared(db: Database, id: string) {
  const time = idTime(id)
  if (time === null) return undefined
  return await db
    .selectFrom('repeated_records')
    .innerJoin('records', 'records.id', 'repeated_records.id')
    .select(['records.id', 'records.record_json'])
    // Ids of one millisecond are in no order.
    .where('repeated_records.id', '<', idAt(time + 1))
    .where('repeated_records.last_time', '>=', new Date(time).toISOString())
    .orderBy('repeated_records.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * A page of what the filter lets through, newest first. What takes longer than that to find is left to the next page: this one
 * then says how far back it has looked.
 */
async function searchRecords(db: Database, filter: RecordFilter, withinMs: number): Promise<FoundRecords> {
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
