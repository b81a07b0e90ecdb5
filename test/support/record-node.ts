import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type pg from 'pg'
import { OutboxClient } from '../../src/cluster/records/outbox-client.ts'
import { OwnReprices } from '../../src/cluster/records/own-reprices.ts'
import { readWatermark, type ShippingNode, shipBatch } from '../../src/cluster/records/ship.ts'
import { UsageClaims } from '../../src/cluster/records/usage-claims.ts'
import type { JournalEntry, SettledHold } from '../../src/core/journal-format.ts'
import type { Audience } from '../../src/store/ingest/ingest.ts'
import { chargeUnread } from '../../src/store/ingest/unread-batches.ts'
import { purge } from '../../src/store/records/purge.ts'
import { Outbox } from '../../src/store/replica/outbox.ts'
import type { OpenStore } from '../../src/store/sqlite/open.ts'
import { ingestJournal, storePaths } from '../store/support.ts'
import { openTestStore } from './empty-database.ts'
import { JournalWriter } from './journal-writer.ts'

export type StepFault = 'none' | 'cut' | 'lost'

/** The database of a node, and what its cluster's thread does of it. */
export class RecordNode {
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
  #reprices!: OwnReprices
  #fault: StepFault = 'none'
  #segments = 0
  #work!: Outbox
  #outbox!: OutboxClient
  #store!: OpenStore

  constructor(client: pg.Client, name: string) {
    this.#client = client
    const self = { cluster: 'clu_1', member: `nod_${name}`, incarnation: 'one' }
    this.#node = { self, name, keeps: { keepMs: 1e12, keepBodiesMs: 1e12 }, isFollowed: false }
  }

  async open(): Promise<void> {
    const { databasePath: path, journalDirectory } = this.#paths
    this.#store = await openTestStore(path)
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
  async claim(fault: StepFault = 'none'): Promise<void> {
    this.#fault = fault
    await this.#claims.settle(this.#node.self, this.#outbox, true)
  }

  /** What is to cost something else here; `lost`: it does, and PostgreSQL hears nothing of that. */
  async reprice(fault: StepFault = 'none'): Promise<void> {
    this.#fault = fault
    this.#reprices.ask()
    try {
      while (await this.#reprices.doSome(this.#node.self, this.#outbox)) this.#reprices.ask()
    } catch {
      this.restart()
    }
  }

  async ship(): Promise<boolean> {
    const { sequence: after } = await readWatermark(this.#client, this.#node)
    const batch = await this.#outbox.ask('read', { after, most: 1000, mostBytes: 1e6, node: this.#node.name })
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
    const connection = {
      use: <Output>(run: (client: pg.Client) => Promise<Output>) => this.#use(() => run(this.#client)),
    }
    this.#claims = new UsageClaims(connection)
    this.#reprices = new OwnReprices(connection)
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
