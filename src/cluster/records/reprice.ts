import type pg from 'pg'
import type { RecordCost } from '../../store/api.ts'
import { repricedText } from '../../store/records/record-json.ts'
import { type ShippedRow, shippedColumns } from '../../store/replica/outbox-types.ts'
import { channel } from '../schema/configuration.ts'
import type { Self } from '../self.ts'
import { LabelSums } from './label-sums.ts'
import { lockRecords } from './purge.ts'
import { readColumn } from './write-records.ts'
import { writeSums } from './write-sums.ts'

/** The notification to other nodes. */
export const repriceWord = 'reprice'
const awayAfter = '10 seconds'
/** How many are fetched at once. Each is what one page of records has changed. */
const rowsAtOnce = 20

export interface RepriceQuestions {
  /** Changes the costs of these records of any node in PostgreSQL, and soon in their nodes' own databases. Returns how many there were. */
  reprice: { input: RecordCost[]; output: number }
  /** The changes that members still have to make in their own databases. */
  repriced: { input: null; output: RepricingNode[] }
}

export interface RepricingNode {
  name: string
  /** Not heard from for a while. */
  isAway: boolean
  /** It runs a version without repricing, and does this after its upgrade. */
  isOlder: boolean
  /** How many changes are left. */
  left: number
}

type RepriceAnswerers = {
  [Name in keyof RepriceQuestions]: (
    client: pg.Client,
    input: RepriceQuestions[Name]['input'],
  ) => Promise<RepriceQuestions[Name]['output']>
}

export const repriceAnswerers: RepriceAnswerers = {
  async reprice(client, costs) {
    await client.query(`begin; ${lockRecords}`)
    try {
      const repriced = await repriceShared(client, costs)
      await client.query('select pg_notify($1, $2)', [channel, repriceWord])
      await client.query('commit')
      return repriced
    } catch (error) {
      await client.query('rollback')
      throw error
    }
  },

  async repriced(client) {
    // The first version that can also reports how long it keeps bodies.
    const { rows } = await client.query<RepricingNode>(
      `select m.name, coalesce(m.beat < now() - interval '${awayAfter}', true) as "isAway", count(*)::int as left,
         exists (select from spgw.shipped s where s.member = m.id and s.keep_bodies_ms is null) as "isOlder"
       from spgw.reprices r join spgw.members m on m.id = r.member group by m.id order by m.name`,
    )
    return rows
  },
}

/**
 * Changes records and sums, and lists what their nodes have to do, in the open transaction, during which no node ships. It is done here for
 * all nodes: a node may keep its records for another time than PostgreSQL, or never come back.
 */
async function repriceShared(client: pg.Client, costs: readonly RecordCost[]): Promise<number> {
  const byId = new Map(costs.map((cost) => [cost.id, cost]))
  const { rows } = await client.query<(string | number | null)[]>({
    text: `select node, ${shippedColumns.map(readColumn).join(', ')} from spgw.records where id = any ($1)`,
    values: [[...byId.keys()]],
    rowMode: 'array',
  })
  const sums = new LabelSums()
  const changed: { id: string; usd: number; text: string }[] = []
  const ofNodes = new Map<string, RecordCost[]>()
  for (const [node, ...row] of rows) {
    const cost = byId.get(String(row[0]))
    if (cost === undefined) continue
    const { id } = cost
    const { usd } = cost.cost
    sums.add(String(node), row, -1)
    sums.add(String(node), withUsd(row, usd), 1)
    changed.push({ id, usd, text: repricedText(String(row[textPlace]), cost) })
    const ofNode = ofNodes.get(String(node)) ?? []
    ofNodes.set(String(node), ofNode)
    ofNode.push(cost)
  }
  await client.query(
    `update spgw.records set usd = ($2::float8[])[array_position($1::text[], id)],
       record_json = ($3::text[])[array_position($1::text[], id)] where id = any ($1)`,
    [changed.map(({ id }) => id), changed.map(({ usd }) => usd), changed.map(({ text }) => text)],
  )
  await writeSums(client, sums.take())
  // A renamed node has records under its former name, so records of a name that no node has are sent to all.
  await client.query(
    `insert into spgw.reprices (member, costs)
     select m.id, c.costs::jsonb from unnest($1::text[], $2::text[]) as c(node, costs) join spgw.members m
       on m.name = c.node or not exists (select from spgw.members o where o.name = c.node)`,
    [[...ofNodes.keys()], [...ofNodes.values()].map((each) => JSON.stringify(each))],
  )
  return changed.length
}

const textPlace = shippedColumns.indexOf('record_json')
const usdPlace = shippedColumns.indexOf('usd')

function withUsd(row: ShippedRow, usd: number): ShippedRow {
  return row.with(usdPlace, usd)
}

/** Changes that this node still has to make in its own database, in PostgreSQL's order. */
export async function readReprices(
  client: pg.Client,
  { member }: Self,
): Promise<{ number: string; costs: RecordCost[] }[]> {
  const { rows } = await client.query<{ number: string; costs: RecordCost[] }>(
    'select number, costs from spgw.reprices where member = $1 order by number limit $2',
    [member, rowsAtOnce],
  )
  return rows
}

export async function removeReprice(client: pg.Client, number: string): Promise<void> {
  await client.query('delete from spgw.reprices where number = $1', [number])
}

/** Deletes changes for nodes that are no longer members. */
export async function forgetReprices(client: pg.Client): Promise<void> {
  await client.query('delete from spgw.reprices where member not in (select id from spgw.members)')
}
