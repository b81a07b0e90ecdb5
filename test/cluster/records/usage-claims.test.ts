import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHeldWork } from '../../../src/cluster/records/claim-usage.ts'
import { createSchema } from '../../../src/cluster/schema/configuration.ts'
import { objectsPart } from '../../../src/cluster/schema/objects.ts'
import { ensurePart } from '../../../src/cluster/schema/parts.ts'
import { recordsPart } from '../../../src/cluster/schema/records.ts'
import { newId } from '../../../src/core/ids.ts'
import type { BatchHeldEntry, BatchUsageEntry } from '../../../src/core/journal-format.ts'
import { needsPostgres, PostgresServer, postgresPrograms } from '../../support/postgres-server.ts'
import { RecordNode, type StepFault } from '../../support/record-node.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const time = '2026-11-23T10:00:00.000Z'
const counter = 'pol_1 workspace usd month'
const period = '2026-11'
const tokens = { input: 400, output: 600, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' } as const
const owner = { projectId: 'prj_1', environmentId: 'env_1', keyId: 'key_1', providerId: 'prv_1', credentialId: null }
const made = { lane: 'openai', provider: 'openai', requestId: 'req_1', time, owner } as const
const [held, cost] = [500, 120]

const heldEntry = (batchId: string): BatchHeldEntry => ({
  ...{ ...made, kind: 'batch-held', batchId, model: 'gpt', hold: [[counter, period, held]], tokens },
})
const usedEntry = (batchId: string, more: Partial<BatchUsageEntry> = {}): BatchUsageEntry => {
  const sum = { id: newId('req'), model: 'gpt', lines: 1, tokens: { ...tokens, source: 'reported' as const } }
  const sums = [{ ...sum, cost: { usd: cost / 1e9, price_version: 'v' } }]
  return { ...{ ...made, kind: 'batch-usage', batchId, sums, counters: [[counter, period]] }, ...more }
}

const step = fc.oneof(
  fc.constantFrom('hold', 'charge'),
  fc.record({ node: fc.nat(1), act: fc.constantFrom('read', 'ship', 'restart', 'claim') }),
  fc.record({ node: fc.nat(1), act: fc.constant('claim'), fault: fc.constantFrom<StepFault>('cut', 'lost') }),
)

describe.skipIf(postgresPrograms === null)(`what background work used (${needsPostgres})`, () => {
  let server: PostgresServer
  let client: pg.Client
  let nodes: [RecordNode, RecordNode]
  let works = 0
  beforeAll(async () => {
    server = await PostgresServer.start()
    client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    await client.query(createSchema)
    for (const part of [recordsPart, objectsPart]) await ensurePart(client, part)
    nodes = [new RecordNode(client, 'a'), new RecordNode(client, 'b')]
    for (const node of nodes) await node.open()
  })
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close()
    await client?.end()
    server?.remove()
  })

  /** Until nothing moves any more. */
  async function settle(): Promise<void> {
    for (const node of nodes) node.restart()
    for (let round = 0; round < 3; round++)
      for (const node of nodes) {
        await node.claim()
        while (await node.ship());
        node.restart()
      }
    for (const node of nodes) expect(node.rows('select count(*) from waiting_usage')).toEqual([0])
  }

  const like = (batchId: string) => `record_json like '%"${batchId}"%'`
  const amounts = (batchId: string) =>
    nodes.map((node) => node.rows(`select round(usd * 1e9) from records where ${like(batchId)}`))
  const spent = () =>
    nodes.map((node) => Number(node.rows('select coalesce(sum(amount), 0) from spend')[0])).reduce((a, b) => a + b)

  it('is counted once, and holds nothing in the end, in whatever order nodes hold, read, ask, ship and die', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const batchId = `batch_${++works}`
        const before = spent()
        const [maker] = nodes
        for (const { told } of nodes) told.length = 0
        let [isHeld, isUsed] = [false, false]
        for (const each of steps) {
          if (each === 'hold') {
            if (!isHeld) await maker.ingest(heldEntry(batchId))
            isHeld = true
          } else if (each === 'charge') {
            await maker.charge()
            isUsed ||= isHeld
          } else {
            const node = nodes[each.node] ?? maker
            if (each.act === 'read') await node.ingest(usedEntry(batchId))
            else if (each.act === 'ship') await node.ship()
            else if (each.act === 'restart') node.restart()
            else await node.claim('fault' in each ? each.fault : 'none')
            isUsed ||= each.act === 'read'
          }
        }
        await settle()
        const counted = amounts(batchId).flat().map(Number)
        expect(counted).toHaveLength(isUsed ? 1 : 0)
        const { rows } = await client.query(
          `select round(usd * 1e9)::int as usd from spgw.records where ${like(batchId)}`,
        )
        expect(rows.map(({ usd }) => usd)).toEqual(counted)
        expect(spent() - before).toBe(counted[0] ?? 0)
        const holds = `select batch_id from batch_holds where batch_id = '${batchId}'`
        expect(nodes.flatMap((node) => node.rows(holds))).toEqual(isHeld && !isUsed ? [batchId] : [])
        const released = nodes.flatMap(({ told }) => told).reduce((sum, each) => sum + each.held, 0)
        expect(released).toBe(isHeld && isUsed ? held : 0)
        // The next begins anew.
        if (isHeld && !isUsed) await maker.ingest(usedEntry(batchId, { sums: [] }))
        await settle()
      }),
      { numRuns: 80 },
    )
  })

  it('is booked where the work holds budget, in its period, whoever reads the results', async () => {
    const batchId = `batch_${++works}`
    const [one, other] = nodes
    const before = spent()
    one.told.length = 0
    await one.ingest(heldEntry(batchId))
    await one.ship()
    await other.ingest(usedEntry(batchId, { counters: [[counter, '2026-12']] }))
    await other.claim()
    // Held until the records are there for all.
    await one.claim()
    expect(spent()).toBe(before)
    await settle()
    expect(amounts(batchId)).toEqual([[], [cost]])
    expect(one.told).toContainEqual({ counter, period, held, actual: cost })
    expect(spent()).toBe(before + cost)
  })

  it('goes to the next that asks where the first was removed before it had counted it', async () => {
    const batchId = `batch_${++works}`
    const [one, other] = nodes
    await one.ingest(heldEntry(batchId))
    await one.ship()
    for (const node of nodes) await node.ingest(usedEntry(batchId))
    await other.claim('lost')
    await one.claim()
    expect(amounts(batchId)).toEqual([[], []])
    await client.query("update spgw.members set id = 'nod_new' where name = 'b'")
    await one.claim()
    expect(amounts(batchId)).toEqual([[cost], []])
    await client.query("update spgw.members set id = 'nod_b' where name = 'b'")
    await settle()
    expect(amounts(batchId)).toEqual([[cost], []])
  })

  it('is what the record of the call that made it lacks, wherever that is', async () => {
    const [one, other] = nodes
    const works = (['response', 'interaction'] as const).map((type) => ({
      type,
      id: `resp_${type}`,
      maker: newId('req'),
    }))
    for (const { type, id, maker } of works) await other.ingest(usedEntry(id, { type, madeBy: maker }))
    await other.claim()
    expect(other.rows('select count(*) from waiting_usage')).toEqual([2])
    for (const { maker } of works) {
      const record = sampleRecord({ id: maker, state: 'settled', time })
      const cost = { usd: 100e-9, price_version: 'v' }
      await one.ingest({ kind: 'settled', record: { ...record, cost, tokens: { ...tokens, output: 100 } } })
    }
    await settle()
    for (const { id } of works) expect(amounts(id)).toEqual([[], [20]])
    expect(other.rows("select output from records where record_json like '%resp_response%'")).toEqual([500])
  })

  it('is counted at once by a node that goes on alone, and by no other when it shares again', async () => {
    const batchId = `batch_${++works}`
    const [one, other] = nodes
    await one.ingest(heldEntry(batchId), usedEntry(batchId))
    expect(amounts(batchId)).toEqual([[], []])
    one.told.length = 0
    await one.share(false)
    expect(amounts(batchId)).toEqual([[cost], []])
    expect(one.told).toContainEqual({ counter, period, held, actual: cost })
    const next = `batch_${++works}`
    await one.ingest(heldEntry(next))
    await one.share(true)
    while (await one.ship());
    for (const id of [batchId, next]) await other.ingest(usedEntry(id))
    await settle()
    expect([batchId, next].map(amounts)).toEqual([
      [[cost], []],
      [[], [cost]],
    ])
    expect(one.rows('select count(*) from batch_holds')).toEqual([0])
  })

  it('of a run that a later call goes on with is known to all as its last step left it, and to nobody once it is counted', async () => {
    const batchId = `run_${++works}`
    const [one, other] = nodes
    const place = { batchId, providerId: owner.providerId, credentialId: null }
    const work: BatchHeldEntry = { ...heldEntry(batchId), type: 'thread_run', limited: true }
    await one.ingest(work)
    await one.ship()
    expect(await readHeldWork(client, place)).toEqual({ ...work, hold: [] })
    const steps = [1, 2].map((input) => ({ ...work, step: { input }, requestId: `req_step${input}` }))
    await other.ingest(...steps)
    await other.ship()
    expect(await readHeldWork(client, place)).toEqual({ ...steps[1], hold: [] })
    // A node of an earlier version adds its row without, and takes nothing from the others.
    await client.query(
      `insert into spgw.held (id, provider_id, credential_id, member)
       values ($1, 'prv_1', '', 'nod_b'), ('run_old', 'prv_1', '', 'nod_b') on conflict do nothing`,
      [batchId],
    )
    expect(await readHeldWork(client, { ...place, batchId: 'run_old' })).toBeNull()
    await client.query("delete from spgw.held where id = 'run_old'")
    await other.ingest(usedEntry(batchId, { type: 'thread_run' }))
    await settle()
    expect(await readHeldWork(client, place)).toBeNull()
    expect(nodes.flatMap((node) => node.rows('select batch_id from batch_holds'))).toEqual([])
  })
})
