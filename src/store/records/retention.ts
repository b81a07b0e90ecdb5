import { setTimeout as wait } from 'node:timers/promises'
import { removeAnswersBefore, removeMarksBefore } from '../objects/object-retention.ts'
import { removeExpiredReasoning, removeReasoningBefore } from '../reasoning/reasoning-retention.ts'
import { leastUnshipped } from '../replica/outbox-rows.ts'
import type { Database } from '../schema.ts'
import type { Connection } from '../sqlite/connection.ts'
import { idAt, idSlackMs } from './id-time.ts'
import { periodOf } from './label-periods.ts'
import type { Retention } from './record-tables.ts'

const pageRows = 250
/** Each may be a MiB. */
const pageBodies = 50
const pageLabels = 500
/** Between two pages, so that what comes in is stored meanwhile. */
const pauseMs = 5
/** What takes more than `records.max_disk` is brought down to so much of it, so that not each record makes room for itself. */
const lowShare = 0.9

const never = () => false

/** `stop`: the gateway is closing. */
export async function removeOld(
  connection: Connection,
  now: number,
  { recordsMs, bodiesMs }: Pick<Retention, 'recordsMs' | 'bodiesMs'>,
  stop: () => boolean = never,
): Promise<void> {
  await removeBodiesBefore(connection, now - Math.min(bodiesMs, recordsMs), stop)
  await removeRecordsBefore(connection, now - recordsMs, stop)
  if (stop()) return
  await removeAnswersBefore(connection, now - recordsMs)
  await removeMarksBefore(connection, now - recordsMs)
  await removeExpiredReasoning(connection, now)
}

/** By the time in their ids, which is that of the request. */
export async function removeBodiesBefore(connection: Connection, moment: number, stop = never): Promise<void> {
  while (!stop() && (await removeBodies(connection, idAt(moment)))) await wait(pauseMs)
}

/** Removes the records of requests from before that moment (milliseconds), page by page. Returns how many. */
export async function removeRecordsBefore(connection: Connection, moment: number, stop = never): Promise<number> {
  let removed = 0
  while (!stop()) {
    const ids = await connection.read((db) => idsBefore(db, moment))
    if (ids.length === 0) break
    removed += await connection.writeHot((hot) => hot.removal.removeRecords(ids))
    await wait(pauseMs)
  }
  if (removed > 0) await removeLabelsBefore(connection, periodOf(idAt(moment - idSlackMs)))
  return removed
}

/** Where the database takes more than that, the oldest bodies go, then what is kept of conversations, then the oldest records. `stop`: the gateway is closing. */
export async function keepBelow(connection: Connection, mostBytes: number, stop: () => boolean): Promise<void> {
  const used = async () => (await connection.space()).usedBytes
  if ((await used()) <= mostBytes) return
  const aim = mostBytes * lowShare
  let oldest: string | null = null
  while (!stop() && (await used()) > aim) {
    if (!(await removeBodies(connection, '~')) && !(await removeReasoningBefore(connection, Infinity))) {
      const ids = await connection.read((db) => oldestIds(db))
      oldest = ids.at(-1) ?? null
      if (oldest === null || (await connection.writeHot((hot) => hot.removal.removeRecords(ids))) === 0) break
    }
    await wait(pauseMs)
  }
  if (oldest !== null) await removeLabelsBefore(connection, periodOf(oldest))
}

/** The oldest ones below that id. Returns whether there may be more. */
async function removeBodies(connection: Connection, below: string): Promise<boolean> {
  const ids = await connection.read(async (db) => {
    const rows = await db
      .selectFrom('bodies')
      .select('id')
      .where('id', '<', below)
      .orderBy('id')
      .limit(pageBodies)
      .execute()
    return rows.map(({ id }) => id)
  })
  if (ids.length > 0) await connection.writeHot((hot) => hot.removal.removeBodies(ids))
  return ids.length > 0
}

async function removeLabelsBefore(connection: Connection, period: string): Promise<void> {
  for (let above: number | null = 0; above !== null; await wait(pauseMs)) {
    const from: number = above
    above = await connection.writeHot((hot) => hot.removeLabelsBefore(period, from, pageLabels))
  }
}

/** A request that is still under way keeps its record, and so does one that the cluster has not. */
async function idsBefore(db: Database, moment: number): Promise<string[]> {
  const bound = idAt(moment + idSlackMs)
  const unshipped = await leastUnshipped(db)
  const rows = await db
    .selectFrom('records')
    .select('id')
    .where('id', '<', unshipped !== null && unshipped < bound ? unshipped : bound)
    .where('time', '<', new Date(moment).toISOString())
    .where('state', '<>', 'admitted')
    .orderBy('id')
    .limit(pageRows)
    .execute()
  return rows.map((row) => row.id)
}

async function oldestIds(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('records')
    .select('id')
    .where('id', '<', (await leastUnshipped(db)) ?? '~')
    .where('state', '<>', 'admitted')
    .orderBy('id')
    .limit(pageRows)
    .execute()
  return rows.map((row) => row.id)
}
