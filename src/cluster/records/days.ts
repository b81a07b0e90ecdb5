import type pg from 'pg'
import { idTime } from '../../core/ids.ts'
import { idAt } from '../../store/records/id-time.ts'
import { removeOldObjects } from '../objects/keep-objects.ts'
import { removeOverBodies } from './bodies.ts'
import { forgetPurges } from './purge.ts'
import { forgetReprices } from './reprice.ts'

const dayMs = 86_400_000
/** Tables are created this many days ahead, so that no batch waits for one. */
const aheadDays = 3

/** The day (UTC) of an id, in days since the epoch. */
export function dayOf(id: string): number {
  return Math.floor((idTime(id) ?? 0) / dayMs)
}

/**
 * Creates missing tables for these days. Not in a transaction, so each is visible to everybody at once. The functions in PostgreSQL that
 * create and drop tables run with the rights of the schema's owner, which a node does not need.
 */
export async function ensureDays(client: pg.Client, days: readonly number[]): Promise<void> {
  const { records, bodies } = await listDays(client)
  for (const day of days) if (!records.has(day) || !bodies.has(day)) await makeDay(client, day)
}

/** Creates the tables of today and the next days, and drops those that no node keeps any more. Any node may do this, one at a time. */
export async function keepDays(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_lock(hashtext('spgw.days')) as mine")
  if (rows[0]?.mine !== true) return
  try {
    // What is dropped is over by PostgreSQL's clock and by this node's: either may be wrong, and nothing that is dropped comes back.
    const longest = await client.query<{ now: number; records: string | null; bodies: string | null }>(
      `select (extract(epoch from now()) * 1000)::float8 as now, max(keep_ms) as records, max(keep_bodies_ms) as bodies
       from spgw.shipped join spgw.members on id = member`,
    )
    const [{ now: there, records, bodies } = { now: Date.now(), records: null, bodies: null }] = longest.rows
    const now = Math.min(there, Date.now())
    const today = Math.floor(there / dayMs)
    await ensureDays(
      client,
      Array.from({ length: aheadDays + 1 }, (_, ahead) => today + ahead),
    )
    const before = now - Number(records ?? Number.POSITIVE_INFINITY)
    const bodiesBefore = now - Number(bodies ?? Number.POSITIVE_INFINITY)
    const days = await listDays(client)
    let dropped = 0
    for (const day of days.records) if (isOver(day, before) && (await dropDay(client, 'drop_day', day))) dropped++
    for (const day of days.bodies) if (isOver(day, bodiesBefore)) await dropDay(client, 'drop_bodies', day)
    // Hours and days both have names that begin with their day.
    for (const table of dropped > 0 ? ['record_sums', 'tag_sums', 'tag_days'] : [])
      await client.query(`delete from spgw.${table} where start < $1`, [dateOf(Math.floor(before / dayMs))])
    await removeOverBodies(client, now)
    await removeOldObjects(client, { before, now })
    await forgetPurges(client)
    await forgetReprices(client)
  } finally {
    await client.query("select pg_advisory_unlock(hashtext('spgw.days'))")
  }
}

/** The days that have tables. */
async function listDays(client: pg.Client): Promise<{ records: Set<number>; bodies: Set<number> }> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent in ('spgw.records'::regclass, 'spgw.bodies'::regclass)`,
  )
  const ofKind = (kind: string) => rows.filter(({ name }) => name.startsWith(kind)).map(({ name }) => parseDay(name))
  return { records: new Set(ofKind('records')), bodies: new Set(ofKind('bodies')) }
}

/** Nothing of that day is newer. */
function isOver(day: number, before: number): boolean {
  return (day + 1) * dayMs <= before
}

function parseDay(name: string): number {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  return Math.floor(Date.parse(`${year}-${month}-${day}`) / dayMs)
}

async function makeDay(client: pg.Client, day: number): Promise<void> {
  const [from, to] = [day, day + 1].map((each) => idAt(each * dayMs))
  await client.query('select spgw.make_day($1, $2, $3)', [dateOf(day), from, to])
}

/** False: some node still keeps it. */
async function dropDay(client: pg.Client, act: 'drop_day' | 'drop_bodies', day: number): Promise<boolean> {
  const { rows } = await client.query<{ done: boolean }>(`select spgw.${act}($1) as done`, [dateOf(day)])
  return rows[0]?.done === true
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
