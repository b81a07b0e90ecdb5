import { setTimeout as wait } from 'node:timers/promises'
import type { SelectQueryBuilder } from 'kysely'
import { removeAnswersBefore, removeMarksBefore } from '../objects/object-retention.ts'
import { removeExpiredReasoning, removeReasoningBefore } from '../reasoning/reasoning-retention.ts'
import { leastUnshipped } from '../replica/outbox-rows.ts'
import type { Database, Schema } from '../schema.ts'
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

type BodyIds = SelectQueryBuilder<Schema, 'bodies', { id: string }>
type ChooseBodies = (bodies: BodyIds) => BodyIds

/** `stop`: the gateway is closing. */
export async function removeOld(
  connection: Connection,
  now: number,
  { recordsMs, bodiesMs }: Pick<Retention, 'recordsMs' | 'bodiesMs'>,
  stop: () => boolean = never,
): Promise<void> {
  // By the time in their ids, which is that of the request.
  const below = idAt(now - Math.min(bodiesMs, recordsMs))
  await removeAllBodies(connection, (bodies) => bodies.where('id', '<', below).orderBy('id'), stop)
  await removeRecordsBefore(connection, now - recordsMs, stop)
  if (stop()) return
  await removeAnswersBefore(connection, now - recordsMs)
  await removeMarksBefore(connection, now - recordsMs)
  await removeExpiredReasoning(connection, now)
}

/** What policies keep no longer; the records stay. By an index that has only such bodies. */
export async function removeOverBodies(connection: Connection, now: number, stop = never): Promise<void> {
  await removeAllBodies(connection, (bodies) => bodies.where('until', '<=', now).orderBy('until'), stop)
}

/** Removes the records of requests from before that moment (milliseconds), page by page. Returns how many. */
export async function removeRecordsBefore(connection: Connection, moment: number, stop = never): Promise<number> {
  let removed = 0
  while (!stop()) {
    const ids = await connection.read((db) => oldestIds(db, moment))
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
    if (
      !(await removeBodies(connection, (bodies) => bodies.orderBy('id'))) &&
      !(await removeReasoningBefore(connection, Infinity))
    ) {
      const ids = await connection.read((db) => oldestIds(db, null))
      oldest = ids.at(-1) ?? null
      if (oldest === null || (await connection.writeHot((hot) => hot.removal.removeRecords(ids))) === 0) break
    }
    await wait(pauseMs)
  }
  if (oldest !== null) await removeLabelsBefore(connection, periodOf(oldest))
}

async function removeAllBodies(connection: Connection, choose: ChooseBodies, stop: () => boolean): Promise<void> {
  while (!stop() && (await removeBodies(connection, choose))) await wait(pauseMs)
}

/** The first of them. Returns whether there may be more. */
async function removeBodies(connection: Connection, choose: ChooseBodies): Promise<boolean> {
  const rows = await connection.read((db) => choose(db.selectFrom('bodies').select('id').limit(pageBodies)).execute())
  if (rows.length > 0) await connection.writeHot((hot) => hot.removal.removeBodies(rows.map(({ id }) => id)))
  return rows.length > 0
}

async function removeLabelsBefore(connection: Connection, period: string): Promise<void> {
  for (let above: number | null = 0; above !== null; await wait(pauseMs)) {
    const from: number = above
    above = await connection.writeHot((hot) => hot.removeLabelsBefore(period, from, pageLabels))
  }
}

/** Of the oldest, those from before that moment. A request that is still under way keeps its record, and so does one that the cluster has not. */
async function oldestIds(db: Database, moment: number | null): Promise<string[]> {
  const bound = moment === null ? '~' : idAt(moment + idSlackMs)
  const [below = bound] = [(await leastUnshipped(db)) ?? '~', bound].sort()
  const time = moment === null ? '~' : new Date(moment).toISOString()
  const rows = await db
    .selectFrom('records')
    .select('id')
    .where('id', '<', below)
    .where('time', '<', time)
    .where('state', '<>', 'admitted')
    .orderBy('id')
    .limit(pageRows)
    .execute()
  return rows.map((row) => row.id)
}
