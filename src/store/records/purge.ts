import type { PurgeQuestion, PurgeSlice, RecordFilter } from '../api.ts'
import { behindIds } from '../replica/outbox-rows.ts'
import type { Database } from '../schema.ts'
import type { Connection } from '../sqlite/connection.ts'
import { idAt, idSlackMs } from './id-time.ts'
import { selectFiltered, selectMatching } from './record-filter.ts'
import { chooseLabels } from './record-labels.ts'
import { recordWindows } from './record-windows.ts'

/** Removed in one transaction. */
const pageRecords = 250
/** Each may be a MiB. */
const pageBodies = 50
/** After so long whoever asked is told how far it came, and asks for the next slice. */
const sliceMs = 100

/**
 * Removes some of what the filter lets through, newest first, until `before` is null. What is under way stays. `countBelow`: only
 * bodies of ids below that are counted.
 */
export async function purge(
  connection: Connection,
  question: PurgeQuestion,
  countBelow = behindIds,
): Promise<PurgeSlice> {
  return question.bodies
    ? await purgeBodies(connection, question.filter, countBelow)
    : await purgeRecords(connection, question.filter)
}

async function purgeRecords(connection: Connection, filter: RecordFilter): Promise<PurgeSlice> {
  const begun = performance.now()
  let removed = 0
  return await connection.readPaged(async (db) => {
    const labels = await chooseLabels(db, filter)
    if (labels?.numbers.length === 0) return { removed, before: null }
    for await (const window of recordWindows(db, filter, labels)) {
      const rows = await selectMatching(db, filter, labels, window)
        .select('id')
        .where('state', '<>', 'admitted')
        .orderBy('id', 'desc')
        .execute()
      for (let place = 0; place < rows.length; place += pageRecords) {
        const ids = rows.slice(place, place + pageRecords).map(({ id }) => id)
        removed += await connection.writeHot((hot) => hot.removal.removeRecords(ids))
      }
      if (performance.now() - begun > sliceMs && window.from !== '') return { removed, before: window.from }
    }
    return { removed, before: null }
  })
}

/** By what was captured, which is far less than what was asked. */
async function purgeBodies(connection: Connection, filter: RecordFilter, countBelow: string): Promise<PurgeSlice> {
  const begun = performance.now()
  let removed = 0
  let before = filter.before ?? (filter.until === undefined ? null : idAt(Date.parse(filter.until) + idSlackMs))
  for (;;) {
    const { oldest, ids } = await connection.read((db) => pageOfBodies(db, filter, before))
    if (oldest === undefined) return { removed, before: null }
    if (ids.length > 0)
      removed += await connection.writeHot((hot) => {
        hot.removal.removeBodies(ids.filter((id) => id >= countBelow))
        return hot.removal.removeBodies(ids.filter((id) => id < countBelow)).bodies
      })
    before = oldest
    if (performance.now() - begun > sliceMs) return { removed, before }
  }
}

async function pageOfBodies(db: Database, filter: RecordFilter, before: string | null) {
  const captured = await idsOfBodies(db, before)
  const labels = await chooseLabels(db, filter)
  const among = db.selectFrom('records').where('id', 'in', captured)
  const found = captured.length === 0 ? [] : await selectFiltered(among, filter, labels).select('id').execute()
  return { oldest: captured.at(-1), ids: found.map(({ id }) => id) }
}

async function idsOfBodies(db: Database, before: string | null): Promise<string[]> {
  let query = db.selectFrom('bodies').select('id').distinct().orderBy('id', 'desc').limit(pageBodies)
  if (before !== null) query = query.where('id', '<', before)
  return (await query.execute()).map(({ id }) => id)
}
