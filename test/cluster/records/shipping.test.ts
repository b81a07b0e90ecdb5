import { MessageChannel, type MessagePort } from 'node:worker_threads'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OutboxReport } from '../../../src/cluster/protocol.ts'
import { Shipper } from '../../../src/cluster/records/shipper.ts'
import type { OutboxBatch, OutboxMark, OutboxQuestion } from '../../../src/store/replica/outbox-types.ts'
import type { WaitingUsage } from '../../../src/store/replica/usage-claim.ts'
import { MockPostgres, Refused } from '../../support/mock-postgres.ts'

const self = { cluster: 'clu_1', member: 'nod_1', incarnation: 'one' }

const noRecords = { ids: [], copied: new Uint8Array(), sums: [], tags: [] }

/** A batch whose one change is a hold of that name: what PostgreSQL has of it is told by the name alone. */
function batchOf(sequence: number, isHistory = false): OutboxBatch {
  const held = { kind: 'held', batchId: `batch_${sequence}`, providerId: 'prv_1', credentialId: null } as const
  return {
    sequence,
    mark: `mark ${sequence}`,
    after: sequence - 1,
    isHistory,
    changes: [held],
    records: noRecords,
    bodies: [],
  }
}

type Fault = 'cut before commit' | 'cut after commit' | 'cut while it writes' | 'moved' | 'no room' | 'deadlock'

/** As much of PostgreSQL as shipping needs: a watermark, what was written, and transactions. */
class Tables {
  sequence = 0
  written: string[] = []
  hasSchema = true
  /** Each for one batch, in this order; null: none. */
  faults: (Fault | null)[] = []
  /** Names that break a constraint. */
  refused: string[] = []
  purges: { number: number; question: object }[] = []
  purged: (string | null)[][] = []
  /** Of the transaction that is open. */
  #next: { sequence: number; written: string[] } | null = null
  #cut = () => {}

  onCut(cut: () => void): void {
    this.#cut = cut
  }

  answer(text: string, values: (string | null)[]): Record<string, string | number | boolean | object>[] {
    if (text.startsWith('begin')) this.#next = { sequence: this.sequence, written: [...this.written] }
    if (text === 'rollback') this.#next = null
    if (text === 'commit') return this.#commit()
    if (text.includes("to_regclass('spgw.head')")) return [{ found: this.hasSchema }]
    if (text.includes("to_regclass('spgw.parts')")) return [{ found: true }]
    if (text.startsWith('select level')) return [{ level: 99 }]
    if (text.startsWith('insert into spgw.shipped'))
      return [{ sequence: String(this.sequence), mark: `mark ${this.sequence}` }]
    if (text.startsWith('update spgw.shipped')) return this.#move(Number(values[1]), Number(values[2]))
    if (text.includes('insert into spgw.held')) return this.#write(values)
    if (text.includes('from spgw.purges p join'))
      return this.purges.map(({ number, question }) => ({ number, question }))
    if (text.startsWith('insert into spgw.purged')) {
      this.purged.push(values)
      this.purges = this.purges.filter(({ number }) => String(number) !== values[0])
    }
    return []
  }

  #move(after: number, sequence: number) {
    const [fault] = this.faults
    if (this.#next === null || fault === 'moved' || this.sequence !== after) {
      if (fault === 'moved') this.faults.shift()
      return []
    }
    this.#next.sequence = sequence
    return [{ moved: true }]
  }

  #write([ids]: (string | null)[]) {
    const names = (ids ?? '').replace(/[{}"]/g, '').split(',')
    const [fault] = this.faults
    if (fault === 'cut while it writes') return this.#fail(true)
    if (fault === 'no room') return this.#fail(false, new Refused('53100', 'could not extend file: No space left'))
    if (fault === 'deadlock') return this.#fail(false, new Refused('40P01', 'deadlock detected'))
    if (names.some((name) => this.refused.includes(name))) throw new Refused('23505', 'it breaks a constraint')
    this.#next?.written.push(...names)
    return []
  }

  #commit() {
    const fault = this.faults.shift()
    if (fault === 'cut before commit') return this.#fail(true)
    if (this.#next !== null) ({ sequence: this.sequence, written: this.written } = this.#next)
    this.#next = null
    if (fault === 'cut after commit') this.#cut()
    return []
  }

  #fail(isCut: boolean, error?: Error): [] {
    if (error !== undefined || isCut) this.#next = null
    if (this.faults[0] !== undefined) this.faults.shift()
    if (isCut) this.#cut()
    if (error !== undefined) throw error
    return []
  }
}

/** As much of the store: batches, and what it is told. */
class Store {
  batches: OutboxBatch[] = []
  readonly told: [act: string, input: unknown][] = []
  /** What a purge deletes, slice by slice. */
  slices: { removed: number; before: string | null }[] = []
  failure: string | null = null
  /** What background work used, of which this node does not know yet whether it counts it. */
  waiting: WaitingUsage = { usage: 0, usageSince: null }

  answer(port: MessagePort, { id, act, input }: OutboxQuestion): void {
    if (this.failure !== null && act === 'read') return port.postMessage({ id, failure: this.failure })
    if (act === 'set-aside' || act === 'shipped' || act === 'ingest' || act === 'purge') this.told.push([act, input])
    port.postMessage({ id, output: this.#output(act, input) })
  }

  #output(act: OutboxQuestion['act'], input: unknown): unknown {
    if (act === 'resume') return (input as OutboxMark).sequence
    if (act === 'read') return this.batches.find(({ after }) => after >= (input as { after: number }).after) ?? null
    if (act === 'state') return { depth: this.batches.length, since: null, history: false, ...this.waiting }
    if (act === 'claims') return { claims: [], last: null, waiting: this.waiting }
    if (act === 'holds') return []
    return act === 'purge' ? this.slices.shift() : undefined
  }

  of(act: string): unknown[] {
    return this.told.filter(([each]) => each === act).map(([, input]) => input)
  }
}

let server: MockPostgres
let tables: Tables
let store: Store
let reports: OutboxReport[]
let shipper: Shipper
let port: MessagePort

beforeEach(async () => {
  tables = new Tables()
  server = await MockPostgres.start((text, values) => tables.answer(text, values))
  begin()
})
afterEach(async () => {
  await shipper.close()
  port.close()
  await server.close()
})

function begin(): void {
  tables.onCut(() => server.cut())
  store = new Store()
  reports = []
  const { port1, port2 } = new MessageChannel()
  port = port2
  port2.on('message', (question: OutboxQuestion) => store.answer(port2, question))
  shipper = new Shipper({
    ...{ address: server.address, name: 'gw-a', keeps: { keepMs: 1000, keepBodiesMs: 1000 } },
    report(report) {
      reports.push(report)
      // At once, and not after a pause.
      if (report.trouble !== null) shipper.counted()
      server.wake()
    },
    isFollowed: () => false,
    ask: async () => null,
  })
  shipper.take(port1)
}

const names = (...sequences: number[]) => sequences.map((sequence) => `batch_${sequence}`)

describe('what a node has stored', () => {
  it('is shipped batch by batch from where PostgreSQL is, and then nothing waits', async () => {
    store.batches = [1, 2, 3].map((sequence) => batchOf(sequence))
    tables.sequence = 1
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    expect(tables).toMatchObject({ sequence: 3, written: names(2, 3) })
    await server.until(() => reports.at(-1)?.depth === 0)
    expect(store.of('ingest')).toHaveLength(1)
    expect(store.of('shipped')).toEqual([{ sequence: 2, mark: 'mark 2' }])
  })

  it('waits for the tables of the cluster, and says so', async () => {
    store.batches = [batchOf(1)]
    tables.hasSchema = false
    shipper.be(self)
    expect(await shipper.flush()).toBe('PostgreSQL has no tables of records yet')
    tables.hasSchema = true
    expect(await shipper.flush()).toBeNull()
    expect(tables.written).toEqual(names(1))
  })

  it('of background work waits to be counted, which is said also where no record waits', async () => {
    store.batches = [batchOf(1)]
    store.waiting = { usage: 2, usageSince: '2026-11-27T13:00:00.000Z' }
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    await server.until(() => reports.at(-1)?.depth === 0)
    expect(reports.at(-1)).toMatchObject({ since: null, trouble: null, ...store.waiting })
    store.waiting = { usage: 0, usageSince: null }
    await server.until(() => reports.at(-1)?.usage === 0)
  })

  it('from before it was shared keeps nobody waiting', async () => {
    store.batches = [batchOf(1)]
    for (let sequence = 2; sequence <= 200; sequence++) store.batches.push(batchOf(sequence, true))
    shipper.be(self)
    await server.until(() => tables.sequence >= 3)
    expect(await shipper.flush()).toBeNull()
    // The history goes on beside those who ask again and again.
    const shipped = tables.sequence
    for (let time = 0; time < 3; time++) expect(await shipper.flush()).toBeNull()
    expect(tables.sequence).toBeGreaterThan(shipped)
    expect(tables.sequence).toBeLessThan(200)
    await server.until(() => tables.sequence === 200)
  })

  it('that PostgreSQL refuses is set aside alone, and the rest goes on', async () => {
    const batch = batchOf(1)
    store.batches = [{ ...batch, changes: [...batch.changes, ...batchOf(7).changes] }, batchOf(2)]
    tables.refused = names(7)
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    expect(tables.written).toEqual(names(1, 2))
    expect(store.of('set-aside')).toEqual([{ sequence: 1, records: [expect.stringContaining('batch_7')] }])
  })

  it('is asked anew where PostgreSQL is, once that is elsewhere', async () => {
    store.batches = [batchOf(1), batchOf(2)]
    tables.faults = ['moved']
    shipper.be(self)
    await server.until(() => tables.sequence === 2)
    expect(reports.map(({ trouble }) => trouble)).toContain('PostgreSQL takes nothing of this run of the node')
    expect(await shipper.flush()).toBeNull()
    expect(tables.written).toEqual(names(1, 2))
  })

  it('goes on from an older PostgreSQL, which a backup was restored into', async () => {
    store.batches = [batchOf(1), batchOf(2)]
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    Object.assign(tables, { sequence: 1, written: names(1) })
    server.cut()
    store.batches.push(batchOf(3))
    await server.until(() => tables.sequence === 3)
    expect(tables.written).toEqual(names(1, 2, 3))
  })

  it('is kept back by a store that does not answer, which is said', async () => {
    store.failure = 'the disk is full'
    shipper.be(self)
    expect(await shipper.flush()).toBe('the disk is full')
    store.failure = null
    expect(await shipper.flush()).toBeNull()
  })
})

it('that is a lot keeps no node from stopping', async () => {
  for (let sequence = 1; sequence <= 200; sequence++) store.batches.push(batchOf(sequence))
  shipper.be(self)
  await server.until(() => tables.sequence >= 2)
  await shipper.close()
  expect(tables.sequence).toBeLessThan(200)
})

describe('who waits until all is there', () => {
  it('hears that nothing is shipped by a node that is alone, or has no store yet', async () => {
    expect(await shipper.flush()).toBe('it ships nothing now')
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    shipper.be(null)
    expect(await shipper.flush()).toBe('it ships nothing now')
  })

  it('hears that the node stops', async () => {
    const gate = Promise.withResolvers<void>()
    server.gate = gate.promise
    shipper.be(self)
    await server.until(() => server.sessions.size === 1)
    const waiting = shipper.flush()
    const closed = shipper.close()
    gate.resolve()
    await closed
    expect(await waiting).toBe('the node stops')
  })

  it('is one of many, who all have the same answer', async () => {
    store.batches = [batchOf(1)]
    shipper.be(self)
    expect(await Promise.all([shipper.flush(), shipper.flush(), shipper.flush()])).toEqual([null, null, null])
  })
})

describe('what was purged on another node', () => {
  it('is deleted here slice by slice, and said to be once all of it is', async () => {
    tables.purges = [
      { number: 4, question: { filter: { limit: 1 }, bodies: true } },
      { number: 5, question: { filter: { limit: 1, project: 'a' }, bodies: true } },
    ]
    store.slices = [
      { removed: 10, before: 'req_2' },
      { removed: 3, before: null },
      { removed: 0, before: null },
    ]
    shipper.be(self)
    await server.until(() => tables.purged.length === 2)
    expect(tables.purged).toEqual([
      ['4', 'nod_1', '13'],
      ['5', 'nod_1', '0'],
    ])
    const filters = store.of('purge').map((each) => (each as { filter: object }).filter)
    expect(filters).toEqual([{ limit: 1 }, { limit: 1, before: 'req_2' }, { limit: 1, project: 'a' }])
  })

  it('is looked for at once where it is heard of', async () => {
    shipper.be(self)
    expect(await shipper.flush()).toBeNull()
    tables.purges = [{ number: 6, question: { filter: { limit: 1 }, bodies: true } }]
    store.slices = [{ removed: 1, before: null }]
    shipper.purge()
    await server.until(() => tables.purged.length === 1)
    expect(tables.purged).toEqual([['6', 'nod_1', '1']])
  })
})

const fault = fc.constantFrom<Fault | null>(
  ...(['cut before commit', 'cut after commit', 'cut while it writes', 'moved', 'no room', 'deadlock', null] as const),
)

it('comes to PostgreSQL once and in order, whatever is cut, moved or refused on the way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 8 }), fc.integer({ min: 1, max: 5 }), async (faults, count) => {
      await shipper.close()
      port.close()
      tables = new Tables()
      tables.faults = [...faults]
      begin()
      store.batches = Array.from({ length: count }, (_, at) => batchOf(at + 1))
      shipper.be(self)
      await server.until(() => tables.sequence === count)
      // What is behind the last of them changes nothing any more.
      tables.faults = []
      expect(await shipper.flush()).toBeNull()
      expect(tables.written).toEqual(names(...store.batches.map(({ sequence }) => sequence)))
    }),
    { numRuns: 25 },
  )
})
