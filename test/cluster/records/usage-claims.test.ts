import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OutboxClient } from '../../../src/cluster/records/outbox-client.ts'
import { readWatermark, type ShippingNode, shipBatch } from '../../../src/cluster/records/ship.ts'
import { UsageClaims } from '../../../src/cluster/records/usage-claims.ts'
import { createSchema } from '../../../src/cluster/schema/configuration.ts'
import { objectsPart } from '../../../src/cluster/schema/objects.ts'
import { ensurePart } from '../../../src/cluster/schema/parts.ts'
import { recordsPart } from '../../../src/cluster/schema/records.ts'
import { newId } from '../../../src/core/ids.ts'
import type { BatchHeldEntry, BatchUsageEntry, JournalEntry, SettledHold } from '../../../src/core/journal-format.ts'
import type { Audience } from '../../../src/store/ingest/ingest.ts'
import { chargeUnread } from '../../../src/store/ingest/unread-batches.ts'
import { purge } from '../../../src/store/records/purge.ts'
import { Outbox } from '../../../src/store/replica/outbox.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'
import { ingestJournal, storePaths } from '../../store/support.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { needsPostgres, PostgresServer, postgresPrograms } from '../../support/postgres-server.ts'
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

type Fault = 'none' | 'cut' | 'lost'

/** The database of a node, and what its cluster's thread does of it. */
class Node {
  readonly #client: pg.Client
  readonly #node: ShippingNode
  readonly #directory = mkdtempSync(join(tmpdir(), 'spgw-usage-'))
  readonly #paths = storePaths(this.#directory)
  readonly told: SettledHold[] = []
  readonly #audience: Audience = {
    ...{ ended: null, admitted: false, traffic: null, traces: false },
    holds: (settled) => void this.told.push(...settled),
  }
  #claims!: UsageClaims
  #fault: Fault = 'none'
  #segments = 0
  #work!: Outbox
  #outbox!: OutboxClient
  #store!: Awaited<ReturnType<typeof openStore>>

  constructor(client: pg.Client, name: string) {
    this.#client = client
    const self = { cluster: 'clu_1', member: `nod_${name}`, incarnation: 'one' }
    this.#node = { self, name, keepMs: 1e12, isFollowed: false }
  }

  async open(): Promise<void> {
    const { databasePath: path, journalDirectory } = this.#paths
    this.#store = await openStore({ path })
    const { connection } = this.#store
    const work = { audience: this.#audience, ingest: async () => {}, purge: purge.bind(null, connection) }
    this.#work = new Outbox(connection, journalDirectory, work)
    const { self, name } = this.#node
    await this.#work.begin(self.member)
    const { port1, port2 } = new MessageChannel()
    this.#work.serve(port1)
    this.#outbox = new OutboxClient(port2, async ({ question }) => ({ question, output: null }))
    this.restart()
    await this.#client.query('insert into spgw.members (id, name, incarnation) values ($1, $2, $3)', [
      ...[self.member, name, self.incarnation],
    ])
  }

  async close(): Promise<void> {
    this.#outbox.close()
    await this.#store.close()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async ingest(...entries: JournalEntry[]): Promise<void> {
    const { journalDirectory } = this.#paths
    const sequence = ++this.#segments
    new JournalWriter(journalDirectory, { boot: 'live', thread: 0, sequence }).write(...entries)
    const writers = { boot: 'live', running: [], next: sequence + 1 }
    const onHolds = (settled: SettledHold[]) => void this.told.push(...settled)
    await ingestJournal({ connection: this.#store.connection, journalDirectory, writers, onHolds })
  }

  /** `lost`: PostgreSQL does it, and nobody hears of that. */
  async claim(fault: Fault = 'none'): Promise<void> {
    this.#fault = fault
    await this.#claims.settle(this.#node.self, this.#outbox, true)
  }

  async ship(): Promise<boolean> {
    const { sequence: after } = await readWatermark(this.#client, this.#node)
    const batch = await this.#outbox.ask('read', { after, most: 1000, mostBytes: 1e6 })
    if (batch !== null) await shipBatch(this.#client, this.#node, batch)
    return batch !== null
  }

  async charge(): Promise<void> {
    await chargeUnread(this.#store.connection, Date.parse('2027-03-01T00:00:00.000Z'), this.#audience)
  }

  async share(wanted: boolean): Promise<void> {
    await this.#work.begin(wanted ? this.#node.self.member : null)
  }

  /** Nothing of what the thread remembers is left. */
  restart(): void {
    this.#claims = new UsageClaims({ use: (run) => this.#use(() => run(this.#client)) })
  }

  rows(text: string): unknown[] {
    return this.#store.connection.sqlite.prepare(text).pluck().all()
  }

  async #use<Output>(run: () => Promise<Output>): Promise<Output> {
    if (this.#fault === 'cut') throw new Error('cut off')
    const output = await run()
    if (this.#fault === 'lost') throw new Error('lost')
    return output
  }
}

const step = fc.oneof(
  fc.constantFrom('hold', 'charge'),
  fc.record({ node: fc.nat(1), act: fc.constantFrom('read', 'ship', 'restart', 'claim') }),
  fc.record({ node: fc.nat(1), act: fc.constant('claim'), fault: fc.constantFrom<Fault>('cut', 'lost') }),
)

describe.skipIf(postgresPrograms === null)(`what background work used (${needsPostgres})`, () => {
  let server: PostgresServer
  let client: pg.Client
  let nodes: [Node, Node]
  let works = 0
  beforeAll(async () => {
    server = await PostgresServer.start()
    client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    await client.query(createSchema)
    for (const part of [recordsPart, objectsPart]) await ensurePart(client, part)
    nodes = [new Node(client, 'a'), new Node(client, 'b')]
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
})
