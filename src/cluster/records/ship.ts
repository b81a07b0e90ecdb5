import pg from 'pg'
import { reachFaultPoint } from '../../core/fault-point.ts'
import type { OutboxBatch, OutboxMark, ShippedRecords } from '../../store/replica/outbox-types.ts'
import type { SharedChange } from '../../store/replica/shared-change.ts'
import type { BodyRow } from '../../store/schema.ts'
import { writeChanges } from '../objects/write-changes.ts'
import type { KeepTimes } from '../protocol.ts'
import { channel } from '../schema/configuration.ts'
import type { Self } from '../self.ts'
import { addBodies } from './bodies.ts'
import { dayOf, ensureDays } from './days.ts'
import { endedWord, idsAtOnce } from './following.ts'
import { addRecords, replaceRecords, splitRecords } from './write-records.ts'

export interface ShippingNode {
  self: Self
  /** Its name in records. */
  name: string
  keeps: KeepTimes
  /** Somebody follows requests, so their ids are announced. */
  isFollowed: boolean
}

/** What PostgreSQL may refuse individually. */
export type Refusable = ShippedRecords | SharedChange | BodyRow

/** `shipped`, with what PostgreSQL refused; `moved`: the batch does not begin at the watermark. */
export type Shipped = { kind: 'shipped'; refused: Refusable[] } | { kind: 'moved' }

/** How much of this node's records PostgreSQL has. A member that has never shipped begins at zero, with all of its bodies. */
export async function readWatermark(client: pg.Client, node: ShippingNode): Promise<OutboxMark> {
  const { self, name, keeps } = node
  const { rows } = await client.query<{ sequence: string; mark: string }>(
    `insert into spgw.shipped (member, node, keep_ms, keep_bodies_ms, bodies_from) values ($1, $2, $3, $4, '')
     on conflict (member) do update set node = excluded.node, keep_ms = excluded.keep_ms,
       keep_bodies_ms = excluded.keep_bodies_ms returning sequence, mark`,
    [self.member, name, keeps.keepMs, keeps.keepBodiesMs],
  )
  return { sequence: Number(rows[0]?.sequence ?? 0), mark: rows[0]?.mark ?? '' }
}

/**
 * Ships a batch and moves the watermark in one transaction, so exactly once, whatever is killed or lost. It does not wait for PostgreSQL's
 * disk: a crash there loses both, and the node ships the batch again.
 */
export async function shipBatch(client: pg.Client, node: ShippingNode, batch: OutboxBatch): Promise<Shipped> {
  const ids = [...batch.records.ids, ...batch.bodies.map(({ id }) => id)]
  await ensureDays(client, [...new Set(ids.map(dayOf))])
  const ways: WriteBatch[] = [
    async ({ records, changes, bodies }) => {
      await addBodies(client, node.name, bodies)
      if (records.ids.length > 0) await addRecords(client, records)
      if (node.isFollowed && !batch.isHistory) await notifyEnded(client, node.name, records)
      await writeChanges(client, node.self, changes)
      return []
    },
    async ({ records, changes, bodies }) => {
      await addBodies(client, node.name, bodies)
      await replaceRecords(client, node.name, records)
      await writeChanges(client, node.self, changes)
      return []
    },
    async ({ records, changes, bodies }) => [
      ...(await each(client, bodies, (body) => addBodies(client, node.name, [body]))),
      ...(await each(client, splitRecords(node.name, records), (one) => replaceRecords(client, node.name, one))),
      ...(await each(client, changes, (change) => writeChanges(client, node.self, [change]))),
    ],
  ]
  for (const write of ways) {
    const shipped = await tryToShip(client, node, batch, write)
    if (shipped !== null) return shipped
  }
  throw new Error('PostgreSQL rejects a batch of records, but accepts each of them alone')
}

/** The notification is delivered on commit. */
async function notifyEnded(client: pg.Client, node: string, { ids }: ShippedRecords): Promise<void> {
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const some = ids.slice(at, at + idsAtOnce)
    await client.query('select pg_notify($1, $2)', [channel, [endedWord, node, ...some].join(' ')])
  }
}

type WriteBatch = (batch: OutboxBatch) => Promise<Refusable[]>

/** Null: PostgreSQL refuses something in the batch. */
async function tryToShip(
  client: pg.Client,
  { self, name }: ShippingNode,
  batch: OutboxBatch,
  write: WriteBatch,
): Promise<Shipped | null> {
  const { after, sequence, mark } = batch
  await client.query('begin; set local synchronous_commit = off')
  try {
    const { rowCount } = await client.query(
      `update spgw.shipped set sequence = $3, mark = $4, node = $5, time = now() where member = $1 and sequence = $2
       and exists (select from spgw.members where id = $1 and incarnation = $6)`,
      [self.member, after, sequence, mark, name, self.incarnation],
    )
    if (rowCount !== 1) {
      await client.query('rollback')
      return { kind: 'moved' }
    }
    const refused = await write(batch)
    reachFaultPoint('ship.before-commit')
    await client.query('commit')
    reachFaultPoint('ship.after-commit')
    return { kind: 'shipped', refused }
  } catch (error) {
    await client.query('rollback')
    if (isOfRecords(error)) return null
    throw error
  }
}

/** Writes rows one by one, so that a bad one does not block the others. Returns those that PostgreSQL refuses. */
async function each<Row>(client: pg.Client, rows: readonly Row[], write: (row: Row) => Promise<void>): Promise<Row[]> {
  const refused: Row[] = []
  for (const row of rows) {
    await client.query('savepoint record')
    try {
      await write(row)
      await client.query('release record')
    } catch (error) {
      if (!isOfRecords(error)) throw error
      await client.query('rollback to record')
      refused.push(row)
    }
  }
  return refused
}

/** Invalid data, a record that exists already, a missing day, or more than a row can hold. */
function isOfRecords(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(22|23|54)/.test(error.code ?? '')
}
