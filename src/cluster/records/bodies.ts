import pg from 'pg'
import { idTime } from '../../core/ids.ts'
import type { FoundBodies, PurgeQuestion, PurgeSlice } from '../../store/api.ts'
import { toBody } from '../../store/records/bodies.ts'
import { idAt, idSlackMs } from '../../store/records/id-time.ts'
import type { BodyRow } from '../../store/schema.ts'
import { addFull, SqlCondition } from '../readings/condition.ts'
import type { AskPostgres } from '../readings/reading.ts'

const columns = [
  ...(['id', 'part', 'mode', 'type', 'bytes', 'truncated', 'masked', 'key_id', 'sealed', 'until'] as const),
] satisfies (keyof BodyRow)[]
/** A statement takes at most 65,535 values. */
const rowsAtOnce = 1000
/** How many requests' bodies are deleted in one statement: each may have two MiB. */
const idsAtOnce = 50
const hourMs = 3_600_000

/** Writes captured bodies of a node in the open transaction. An existing row is the same body. */
export async function addBodies(client: pg.Client, node: string, bodies: readonly BodyRow[]): Promise<void> {
  for (let at = 0; at < bodies.length; at += rowsAtOnce) {
    const values: unknown[] = []
    const rows = bodies.slice(at, at + rowsAtOnce).map((body) => {
      const row = [node, ...columns.map((name) => body[name])]
      return `(${row.map((value) => `$${values.push(value)}`).join(', ')})`
    })
    await client.query(
      `insert into spgw.bodies (node, ${columns.join(', ')}) values ${rows.join(', ')} on conflict do nothing`,
      values,
    )
  }
}

/** Returns how many there were. In a fixed order, so that two nodes do not deadlock. */
export async function removeBodies(client: pg.Client, ids: readonly string[]): Promise<number> {
  let removed = 0
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const { rowCount } = await client.query(
      `with those as (select id, part from spgw.bodies where id = any ($1) order by id, part for update)
       delete from spgw.bodies b using those t where b.id = t.id and b.part = t.part and b.id = any ($1)`,
      [ids.slice(at, at + idsAtOnce)],
    )
    removed += rowCount ?? 0
  }
  return removed
}

/** Removes bodies that policies no longer keep. */
export async function removeOverBodies(client: pg.Client, now: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ id: string }>(
      `select id from spgw.bodies where until <= $1 order by until limit ${idsAtOnce}`,
      [Math.floor(now)],
    )
    if (rows.length === 0) return
    await removeBodies(
      client,
      rows.map(({ id }) => id),
    )
  }
}

/** Those of the ids that have bodies, newest first. */
export async function listWithBodies(client: pg.Client, ids: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'select distinct id from spgw.bodies where id = any ($1) order by id desc',
    [ids],
  )
  return rows.map(({ id }) => id)
}

/** Removes the newest remaining bodies from PostgreSQL, at most those of an hour. */
export async function purgeSharedBodies(client: pg.Client, filter: PurgeQuestion['filter']): Promise<PurgeSlice> {
  const { until, before = until === undefined ? '~' : idAt(Date.parse(until) + idSlackMs) } = filter
  const { rows } = await client.query<{ id: string }>(
    'select id from spgw.bodies where id < $1 order by id desc limit 1',
    [before],
  )
  const from = rows[0] === undefined ? null : idAt(Math.floor((idTime(rows[0].id) ?? 0) / hourMs) * hourMs)
  if (from === null) return { removed: 0, before: null }
  const condition = new SqlCondition()
  addFull(condition, { ...filter, before })
  condition.add(`id >= ${condition.value(from)}`)
  condition.add('exists (select from spgw.bodies b where b.id = records.id)')
  const { rows: found } = await client.query<{ id: string }>(
    `select id from spgw.records where ${condition.text} order by id desc limit ${idsAtOnce}`,
    condition.values,
  )
  const ids = found.map(({ id }) => id)
  return { removed: await removeBodies(client, ids), before: ids.length < idsAtOnce ? from : (ids.at(-1) ?? from) }
}

/** How many ids one statement looks at. */
const idsLookedAt = 5000

/**
 * Bodies without a record, of this node and of former members, after that id; `after` null: no more. A body may arrive just before its
 * record.
 */
export async function findOrphans(
  client: pg.Client,
  { node, after, until }: { node: string; after: string; until: string | undefined },
): Promise<{ ids: string[]; after: string | null }> {
  const { rows } = await client.query<{ id: string; known: boolean }>(
    `with page as (select distinct id from spgw.bodies b where id > $1 and id < $2 and (node = $3 or not exists (
       select from spgw.shipped s join spgw.members m on m.id = s.member where s.node = b.node))
       order by id limit ${idsLookedAt})
     select id, exists (select from spgw.records r where r.id = page.id) as known from page order by id`,
    [after, until === undefined ? '~' : idAt(Date.parse(until) + idSlackMs), node],
  )
  return {
    ids: rows.filter(({ known }) => !known).map(({ id }) => id),
    after: rows.length < idsLookedAt ? null : (rows.at(-1)?.id ?? null),
  }
}

/** Removes those that still have no record. */
export async function removeOrphans(client: pg.Client, ids: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ id: string }>('select id from spgw.records where id = any ($1)', [ids])
  const known = new Set(rows.map(({ id }) => id))
  await removeBodies(
    client,
    ids.filter((id) => !known.has(id)),
  )
}

/** The size of a page, for a node that continues alone. A larger body comes alone. */
const pageBytes = 4 * 1024 * 1024
const pageRows = 200

/** Bodies of other nodes, in order, after the given one, without those that are too old for their node; null: no more. */
export async function readOtherBodies(
  ask: AskPostgres,
  { node, since, after }: { node: string; since: string; after: readonly string[] },
): Promise<{ bodies: BodyRow[]; last: string[] } | null> {
  const rows = await readKept(
    ask,
    `select p.id, p.part, p.mode, p.type, p.bytes::float8 as bytes, p.truncated, p.masked, p.key_id, p.sealed,
       p.until::float8 as until, ${kept}
     from (
       select b.*, sum(length(sealed)) over (order by id, part) - length(sealed) as before from (
         select * from spgw.bodies where id >= $1 and (id, part) > ($1, $2) and (node <> $3 or id < $4)
         order by id, part limit ${pageRows}) b) p ${keptBy('p')}
     where p.before < ${pageBytes} order by p.id, p.part`,
    [...after, node, since],
  )
  const last = rows?.at(-1)
  if (!rows || last === undefined) return null
  const bodies = rows.filter((row) => !isOver(row))
  return { bodies, last: [last.id, last.part] }
}

/** With the retention of the node that shipped it. */
interface KeptRow extends BodyRow {
  now: number
  keep: number | null
  bodies_from: string | null
}

const kept = `(extract(epoch from now()) * 1000)::float8 as now, s.bodies_from,
  coalesce(s.keep_bodies_ms, (select max(keep_bodies_ms) from spgw.shipped))::float8 as keep`

/** If a node was several members in turn, the last. */
const keptBy = (table: string) => `left join lateral (
  select bodies_from, keep_bodies_ms from spgw.shipped where node = ${table}.node order by time desc limit 1) s on true`

function isOver({ id, now, keep, until }: KeptRow): boolean {
  return (until !== null && until <= now) || (keep !== null && (idTime(id) ?? 0) < now - keep)
}

/**
 * The captured bodies of a request whose record exists. Whole days are dropped only when no node keeps them any more, so bodies that are
 * too old for their own node are left out here.
 */
export async function findBodies(ask: AskPostgres, id: string): Promise<FoundBodies> {
  const rows = await readKept(
    ask,
    `select ${kept}, r.id, b.part, b.mode, b.type, b.bytes::float8 as bytes, b.truncated, b.masked, b.key_id, b.sealed,
       b.until::float8 as until
     from spgw.records r left join spgw.bodies b on b.id = r.id and b.id = $1 ${keptBy('r')}
     where r.id = $1 order by b.part desc`,
    [id],
  )
  if (rows === null) return { bodies: [], missing: 'unshipped' }
  const [first] = rows
  if (first === undefined || isOver(first)) return { bodies: [], missing: null }
  const bodies = rows.filter(({ part }) => part !== null).map(toBody)
  const { bodies_from: from, keep: keptMs } = first
  const isComplete = bodies.length > 0 || (from !== null && id >= from)
  return { bodies, missing: isComplete ? null : 'unshipped', keptMs }
}

/** Null: no node has created the table yet. */
async function readKept(ask: AskPostgres, text: string, values: unknown[]): Promise<KeptRow[] | null> {
  try {
    return await ask<KeptRow>(text, values)
  } catch (error) {
    if (error instanceof pg.DatabaseError && /^42(P01|703)$/.test(error.code ?? '')) return null
    throw error
  }
}
