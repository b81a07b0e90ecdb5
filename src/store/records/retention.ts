import { setImmediate as nextTurn } from 'node:timers/promises'
import { removeAnswersBefore, removeMarksBefore } from '../objects/object-retention.ts'
import { removeExpiredReasoning } from '../reasoning/reasoning-retention.ts'
import type { Database } from '../schema.ts'
import type { Connection } from '../sqlite/connection.ts'
import { periodOf } from './label-periods.ts'
import { idAt, idSlackMs } from './record-filter.ts'
import type { Retention } from './record-tables.ts'

const pageRows = 500
/** Each may be a MiB. */
const pageBodies = 50

export async function removeOld(
  connection: Connection,
  now: number,
  { recordsMs, bodiesMs }: Retention,
): Promise<void> {
  await removeBodiesBefore(connection, now - Math.min(bodiesMs, recordsMs))
  await removeRecordsBefore(connection, now - recordsMs)
  await removeAnswersBefore(connection, now - recordsMs)
  await removeMarksBefore(connection, now - recordsMs)
  await removeExpiredReasoning(connection, now)
}

/** By the time in their ids, which is that of the request. */
export async function removeBodiesBefore(connection: Connection, moment: number): Promise<void> {
  for (let removed = pageBodies; removed === pageBodies; await nextTurn()) {
    const rows = await connection.read((db) =>
      db.selectFrom('bodies').select('id').where('id', '<', idAt(moment)).orderBy('id').limit(pageBodies).execute(),
    )
    removed = rows.length
    const ids = rows.map(({ id }) => id)
    if (removed > 0) await connection.write((db) => db.deleteFrom('bodies').where('id', 'in', ids).execute())
  }
}

/** Removes the records of requests from before that moment (milliseconds), page by page. Returns how many. */
export async function removeRecordsBefore(connection: Connection, moment: number): Promise<number> {
  let removed = 0
  for (;;) {
    const ids = await connection.read((db) => idsBefore(db, moment))
    if (ids.length === 0) break
    await connection.write(async (db) => {
      await db.deleteFrom('records').where('id', 'in', ids).execute()
      await db.deleteFrom('repeated_records').where('id', 'in', ids).execute()
    })
    removed += ids.length
    await nextTurn()
  }
  if (removed > 0) await removeLabelsBefore(connection, periodOf(idAt(moment - idSlackMs)))
  return removed
}

async function removeLabelsBefore(connection: Connection, period: string): Promise<void> {
  for (let above: number | null = 0; above !== null; await nextTurn()) {
    const from: number = above
    above = await connection.writeHot((hot) => hot.removeLabelsBefore(period, from, pageRows))
  }
}

/** A request that is still under way keeps its record. */
async function idsBefore(db: Database, moment: number): Promise<string[]> {
  const rows = await db
    .selectFrom('records')
    .select('id')
    .where('id', '<', idAt(moment + idSlackMs))
    .where('time', '<', new Date(moment).toISOString())
    .where('state', '<>', 'admitted')
    .orderBy('id')
    .limit(pageRows)
    .execute()
  return rows.map((row) => row.id)
}
