import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forgetReprices, repriceAnswerers } from '../../../src/cluster/records/reprice.ts'
import { createSchema } from '../../../src/cluster/schema/configuration.ts'
import { objectsPart } from '../../../src/cluster/schema/objects.ts'
import { ensurePart } from '../../../src/cluster/schema/parts.ts'
import { recordsPart } from '../../../src/cluster/schema/records.ts'
import { repricesPart } from '../../../src/cluster/schema/reprices.ts'
import { needsPostgres, PostgresServer, postgresPrograms } from '../../support/postgres-server.ts'
import { RecordNode, type StepFault } from '../../support/record-node.ts'
import { sampleAttempt, sampleRecord, settled } from '../../support/sample-record.ts'

const unpriced = { rule: 'unpriced', verdict: 'flag', text: 'no price' } as const
const nodeAct = (act: 'answer' | 'ship' | 'restart') => fc.record({ act: fc.constant(act), node: fc.nat(1) })
const step = fc.oneof(
  nodeAct('answer'),
  nodeAct('ship'),
  nodeAct('restart'),
  fc.record({
    act: fc.constant('follow' as const),
    node: fc.nat(1),
    fault: fc.constantFrom<StepFault>('none', 'cut', 'lost'),
  }),
  fc.record({
    act: fc.constant('recompute' as const),
    usd: fc.nat(1e6).map((nano) => nano / 1e9),
    every: fc.integer({ min: 1, max: 3 }),
  }),
)

describe.skipIf(postgresPrograms === null)(`another cost of records (${needsPostgres})`, () => {
  let server: PostgresServer
  let client: pg.Client
  let nodes: [RecordNode, RecordNode]
  let gone: RecordNode
  beforeAll(async () => {
    server = await PostgresServer.start()
    client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    await client.query(createSchema)
    for (const part of [recordsPart, objectsPart, repricesPart]) await ensurePart(client, part)
    nodes = [new RecordNode(client, 'a'), new RecordNode(client, 'b')]
    gone = new RecordNode(client, 'gone')
    for (const node of [...nodes, gone]) await node.open()
    for (let count = 0; count < 3; count++) await answer(gone)
    await gone.ship()
    await client.query("delete from spgw.members where name = 'gone'")
  })
  afterAll(async () => {
    for (const node of [...(nodes ?? []), gone]) await node?.close()
    await client?.end()
    server?.remove()
  })

  const answer = (node: RecordNode) =>
    node.ingest(
      settled(
        sampleRecord({ cost: null, policy_signals: [unpriced], attempts: [sampleAttempt('openai', 'answered')] }),
      ),
    )

  /** Until nothing moves any more. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 2; round++)
      for (const node of nodes) {
        await node.reprice()
        while (await node.ship());
      }
    expect(await repriceAnswerers.repriced(client, null)).toEqual([])
  }

  const list = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows.map((row) => row.join(' '))
  const texts = (table: string) => `select record_json from ${table} order by id`

  async function expectAgreement(): Promise<void> {
    const figures = 'count(*), sum(input), coalesce(sum(round(usd * 1e9)), 0), count(usd)'
    const sums = 'sum(requests), sum(input), sum(usd_nano), sum(priced)'
    const records = await list(`select node, ${figures} from spgw.records group by 1 order by 1`)
    for (const span of ['hour', 'day'])
      expect(
        await list(`select node, ${sums} from spgw.record_sums where span = '${span}' group by 1 order by 1`),
      ).toEqual(records)
  }

  it('is in PostgreSQL, its sums and every database in the end, whoever dies, ships late or is gone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const expected = new Map<string, number>()
        for (const each of steps) {
          if (each.act === 'recompute') {
            const ids = (await list('select id from spgw.records order by id')).filter(
              (_, place) => place % each.every === 0,
            )
            const cost = { usd: each.usd, price_version: 'q' }
            expect(
              await repriceAnswerers.reprice(
                client,
                ids.map((id) => ({ id, cost, attempt: cost })),
              ),
            ).toBe(ids.length)
            for (const id of ids) expected.set(id, Math.round(each.usd * 1e9))
            continue
          }
          const [node] = each.node === 0 ? nodes : nodes.toReversed()
          if (node === undefined) throw new Error('two nodes')
          if (each.act === 'answer') await answer(node)
          else if (each.act === 'ship') await node.ship()
          else if (each.act === 'restart') node.restart()
          else if ('fault' in each) await node.reprice(each.fault)
        }
        await settle()
        await expectAgreement()
        for (const [place, name] of ['a', 'b'].entries())
          expect(nodes[place]?.rows(texts('records'))).toEqual(await list(texts(`spgw.records where node = '${name}'`)))
        const costs = new Map(
          (await list('select id, round(usd * 1e9) from spgw.records')).map(
            (row) => row.split(' ') as [string, string],
          ),
        )
        for (const [id, nano] of expected) expect(Number(costs.get(id))).toBe(nano)
      }),
      { numRuns: 25 },
    )
  })

  it('leaves everything else of a record and of its sums as it was', async () => {
    const [node] = nodes
    await answer(node)
    await settle()
    const before = await list(
      "select node, span, start, encode(latencies, 'hex') from spgw.record_sums order by 1, 2, 3, 4",
    )
    const [id = ''] = await list("select id from spgw.records where node = 'a' order by id desc limit 1")
    const cost = { usd: 0.25, price_version: 'q' }
    await repriceAnswerers.reprice(client, [
      { id, cost, attempt: cost },
      { id: 'req_purged', cost, attempt: null },
    ])
    const [text = ''] = await list(`select record_json from spgw.records where id = '${id}'`)
    expect(JSON.parse(text)).toMatchObject({ id, cost, policy_signals: [], attempts: [{ cost }], model: 'gpt-4o-mini' })
    expect(
      await list("select node, span, start, encode(latencies, 'hex') from spgw.record_sums order by 1, 2, 3, 4"),
    ).toEqual(before)
    await settle()
    await expectAgreement()
  })

  it('is known to come late to a member of a version that brings no bodies', async () => {
    for (const node of nodes) await answer(node)
    await settle()
    await client.query("update spgw.shipped set keep_bodies_ms = null where node = 'b'")
    await client.query("insert into spgw.reprices (member, costs) select id, '[]' from spgw.members")
    const asked = await repriceAnswerers.repriced(client, null)
    expect(asked.map(({ name, isOlder, left }) => [name, isOlder, left])).toEqual([
      ['a', false, 1],
      ['b', true, 1],
    ])
    await client.query('delete from spgw.reprices; update spgw.shipped set keep_bodies_ms = keep_ms')
  })

  it('is asked of all where nobody is called as the records say, and of nobody that is no member', async () => {
    const [node] = nodes
    await answer(node)
    await settle()
    const [id = ''] = await list("select id from spgw.records where node = 'a' order by id desc limit 1")
    await client.query("update spgw.members set name = 'renamed' where name = 'a'")
    const cost = { usd: 0.5, price_version: 'q' }
    await repriceAnswerers.reprice(client, [{ id, cost, attempt: null }])
    expect((await repriceAnswerers.repriced(client, null)).map(({ name, left }) => `${name} ${left}`)).toEqual([
      'b 1',
      'renamed 1',
    ])
    await node.reprice()
    expect(node.rows(`select usd from records where id = '${id}'`)).toEqual([0.5])
    await client.query("delete from spgw.members where name = 'b'")
    await forgetReprices(client)
    expect(await list('select number from spgw.reprices')).toEqual([])
  })
})
