import type pg from 'pg'
import { idTime } from '../../core/ids.ts'
import type { PurgeQuestion, PurgeSlice } from '../../store/api.ts'
import { idAt } from '../../store/records/id-time.ts'
import { addFull, SqlCondition } from '../readings/condition.ts'
import { channel } from '../schema/configuration.ts'
import type { Self } from '../self.ts'
import { listWithBodies, purgeSharedBodies, removeBodies } from './bodies.ts'
import { removeRecords } from './write-records.ts'

/** The notification to other nodes. */
export const purgeWord = 'purge'
/** Records in one transaction, during which no node ships. */
const sliceRecords = 1000
/** Fewer if they have bodies: each may have two MiB. */
const sliceBodies = 100
const hourMs = 3_600_000
const awayAfter = '10 seconds'

/** A purge that every node must do. */
export interface Purge {
  number: number
  /** `withBodies`: the requesting node also deletes the records' bodies in PostgreSQL. Earlier versions leave them. */
  question: PurgeQuestion & { withBodies?: boolean }
}

export interface PurgeQuestions {
  /** From now on every node deletes its part, even if it comes back later. Returns the number of the purge. */
  purge: { input: PurgeQuestion; output: number }
  /** Deletes some records or bodies of all nodes in PostgreSQL, newest first, until `before` is null. */
  'purge-slice': { input: PurgeQuestion; output: PurgeSlice }
  /** How many the nodes have deleted in their own databases, and which nodes have not; `isAway`: not heard from for a while. */
  purged: { input: { number: number }; output: { removed: number; missing: { name: string; isAway: boolean }[] } }
}

type PurgeAnswerers = {
  [Name in keyof PurgeQuestions]: (
    client: pg.Client,
    input: PurgeQuestions[Name]['input'],
  ) => Promise<PurgeQuestions[Name]['output']>
}

export const purgeAnswerers: PurgeAnswerers = {
  async purge(client, question) {
    const { rows } = await client.query<{ number: string }>(
      'with asked as (insert into spgw.purges (question) values ($1) returning number) ' +
        'select number, pg_notify($2, $3) from asked',
      [JSON.stringify({ ...question, withBodies: true }), channel, purgeWord],
    )
    return Number(rows[0]?.number)
  },

  'purge-slice': (client, question) => purgeShared(client, question),

  async purged(client, { number }) {
    const { rows } = await client.query<{ name: string; isAway: boolean; removed: string | null }>(
      `select m.name, coalesce(m.beat < now() - interval '${awayAfter}', true) as "isAway", d.removed
       from spgw.purges p join spgw.members m on m.joined <= p.time
       left join spgw.purged d on d.member = m.id and d.number = p.number where p.number = $1 order by m.name`,
      [number],
    )
    return {
      removed: rows.reduce((sum, { removed }) => sum + Number(removed ?? 0), 0),
      missing: rows.filter(({ removed }) => removed === null).map(({ name, isAway }) => ({ name, isAway })),
    }
  },
}

/** Deletes the newest remaining records in PostgreSQL, at most an hour of them, so that no statement takes long. */
export async function purgeShared(client: pg.Client, { bodies, filter }: PurgeQuestion): Promise<PurgeSlice> {
  if (bodies) return await purgeSharedBodies(client, filter)
  const newest = new SqlCondition()
  addFull(newest, {
    limit: 1,
    ...(filter.until && { until: filter.until }),
    ...(filter.before && { before: filter.before }),
  })
  const { rows } = await client.query<{ id: string }>(
    `select id from spgw.records where ${newest.text} order by id desc limit 1`,
    newest.values,
  )
  const from = rows[0] === undefined ? null : idAt(Math.floor((idTime(rows[0].id) ?? 0) / hourMs) * hourMs)
  if (from === null) return { removed: 0, before: null }
  const condition = new SqlCondition()
  addFull(condition, filter)
  condition.add(`id >= ${condition.value(from)}`)
  const { rows: found } = await client.query<{ id: string }>(
    `select id from spgw.records where ${condition.text} order by id desc limit ${sliceRecords}`,
    condition.values,
  )
  const all = found.map(({ id }) => id)
  // Bodies first, while others may ship: a kill in between leaves records, which are found again.
  const captured = await listWithBodies(client, all)
  const last = captured[sliceBodies - 1]
  const ids = last === undefined ? all : all.filter((id) => id >= last)
  await removeBodies(client, captured.slice(0, sliceBodies))
  const removed = ids.length === 0 ? 0 : await removeAlone(client, ids)
  const isWhole = ids.length === all.length && all.length < sliceRecords
  return { removed, before: isWhole ? from : (ids.at(-1) ?? from) }
}

/** Deletes all slices; returns how many were removed. */
export async function purgeAllShared(client: pg.Client, question: PurgeQuestion): Promise<number> {
  let removed = 0
  for (let { filter } = question; ; ) {
    const slice = await purgeShared(client, { ...question, filter })
    removed += slice.removed
    if (slice.before === null) return removed
    filter = { ...filter, before: slice.before }
  }
}

/** Sums are read before they are written, so shipping has to wait. The lock conflicts with inserts, but not with reads. */
export const lockRecords = 'lock table only spgw.records in exclusive mode'

async function removeAlone(client: pg.Client, ids: readonly string[]): Promise<number> {
  await client.query(`begin; ${lockRecords}`)
  try {
    const removed = await removeRecords(client, ids)
    await client.query('commit')
    return removed
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** Purges of which this node has not done its part; not those from before it was a member. */
export async function readPurges(client: pg.Client, { member }: Self): Promise<Purge[]> {
  const { rows } = await client.query<{ number: string; question: Purge['question'] }>(
    `select p.number, p.question from spgw.purges p join spgw.members m on m.id = $1 and p.time >= m.joined
     where not exists (select from spgw.purged d where d.number = p.number and d.member = $1) order by p.number`,
    [member],
  )
  return rows.map(({ number, question }) => ({ number: Number(number), question }))
}

export async function markPurged(client: pg.Client, { member }: Self, number: number, removed: number): Promise<void> {
  await client.query(
    'insert into spgw.purged (number, member, removed) values ($1, $2, $3) on conflict (number, member) do nothing',
    [number, member, removed],
  )
}

/** Deletes old purges that every member has done. */
export async function forgetPurges(client: pg.Client): Promise<void> {
  await client.query(
    `delete from spgw.purges p where p.time < now() - interval '1 day' and not exists (
       select from spgw.members m where m.joined <= p.time and not exists (
         select from spgw.purged d where d.number = p.number and d.member = m.id))`,
  )
}
