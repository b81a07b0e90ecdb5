import { join } from 'node:path'
import pg from 'pg'
import type { AskPostgres } from '../../src/cluster/readings/reading.ts'
import { ensureDays } from '../../src/cluster/records/days.ts'
import { repriceAnswerers } from '../../src/cluster/records/reprice.ts'
import { addRecords, removeRecords, replaceRecords } from '../../src/cluster/records/write-records.ts'
import { createSchema } from '../../src/cluster/schema/configuration.ts'
import { objectsPart } from '../../src/cluster/schema/objects.ts'
import { raisePart } from '../../src/cluster/schema/parts.ts'
import { recordsPart } from '../../src/cluster/schema/records.ts'
import { repricesPart } from '../../src/cluster/schema/reprices.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { RecordCost } from '../../src/store/api.ts'
import { readHead } from '../../src/store/records/record-head.ts'
import { recordsTable } from '../../src/store/records/records.ts'
import { repriceRecords } from '../../src/store/records/reprice.ts'
import { OutboxStatements } from '../../src/store/replica/outbox-statements.ts'
import type { Connection } from '../../src/store/sqlite/connection.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { PostgresServer } from './postgres-server.ts'

const dayMs = 86_400_000

/** The same records in a gateway's own tables and, as nodes bring them, in PostgreSQL. */
export class PostgresRecords {
  readonly own: ReturnType<typeof recordsTable>
  /** The statements that were asked. */
  readonly asked: string[] = []
  readonly client: pg.Client
  readonly #server: PostgresServer
  readonly #connection: Connection
  /** What of its outbox was shipped. */
  #after = 0

  private constructor(server: PostgresServer, client: pg.Client, connection: Connection) {
    this.#server = server
    this.client = client
    this.#connection = connection
    this.own = recordsTable(connection.db)
  }

  static async start(records: readonly RequestRecord[]): Promise<PostgresRecords> {
    const server = await PostgresServer.start()
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    await client.query(createSchema)
    for (const part of [recordsPart, objectsPart, repricesPart]) await raisePart(client, part)
    const { connection } = await openStore({ path: join(server.directory, 'spgw.db') })
    await connection.writeHot((hot) => {
      hot.outbox = new OutboxStatements(connection.sqlite)
    })
    const shared = new PostgresRecords(server, client, connection)
    if (records.length > 0) await shared.ship('gw-a', records, false)
    return shared
  }

  /** `again`: they are there already, perhaps as others. */
  async ship(node: string, records: readonly RequestRecord[], again: boolean): Promise<void> {
    await ensureDays(this.client, [...new Set(records.map(({ time }) => Math.floor(Date.parse(time) / dayMs)))])
    await this.#connection.writeHot((hot) => {
      for (const record of records) {
        const text = JSON.stringify(record)
        const head = readHead(text, 'settled')
        if (head !== null) hot.writeRecord(head, 'boot-0', text)
      }
    })
    const wanted = { after: this.#after, most: records.length, mostBytes: Number.MAX_SAFE_INTEGER, node }
    const batch = await this.#connection.readHot(({ outbox }) => {
      outbox?.readBack()
      return outbox?.read(wanted) ?? null
    })
    if (batch === null) throw new Error('nothing waits')
    this.#after = batch.sequence
    if (again) await replaceRecords(this.client, node, batch.records)
    else await addRecords(this.client, batch.records)
  }

  async reprice(costs: RecordCost[]): Promise<void> {
    await this.#connection.write((db) => repriceRecords(db, costs))
    await repriceAnswerers.reprice(this.client, costs)
    this.#skip()
  }

  async removeRecords(ids: readonly string[]): Promise<void> {
    await this.#connection.writeHot((hot) => hot.removal.removeRecords(ids))
    await removeRecords(this.client, ids)
  }

  async clear(): Promise<void> {
    const { sqlite } = this.#connection
    const ids = sqlite.prepare<[], string>('select id from records').pluck().all()
    await this.#connection.writeHot((hot) => hot.removal.removeRecords(ids))
    await this.client.query('truncate spgw.records, spgw.record_sums, spgw.tag_sums, spgw.tag_days, spgw.reprices')
  }

  /** As a node of a version does it that counts nothing by tag. */
  async asOlder(run: () => Promise<void>): Promise<void> {
    const tables = ['tag_days', 'tag_sums']
    for (const table of tables) await this.client.query(`create table before_${table} as table spgw.${table}`)
    await run()
    for (const table of tables)
      await this.client.query(
        `delete from spgw.${table}; insert into spgw.${table} table before_${table}; drop table before_${table}`,
      )
  }

  readonly ask: AskPostgres = async (text, values) => {
    this.asked.push(text)
    return (await this.client.query(text, values)).rows
  }

  async remove(): Promise<void> {
    await this.client.end()
    this.#server.remove()
  }

  /** PostgreSQL has it by another way. */
  #skip(): void {
    this.#after = Number(this.#connection.sqlite.prepare('select max(sequence) from outbox').pluck().get())
  }
}
