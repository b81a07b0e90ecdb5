import { join } from 'node:path'
import pg from 'pg'
import type { AskPostgres } from '../../src/cluster/readings/postgres-source.ts'
import { ensureDays } from '../../src/cluster/records/days.ts'
import { addRecords } from '../../src/cluster/records/write-records.ts'
import { createSchema } from '../../src/cluster/schema/configuration.ts'
import { raisePart } from '../../src/cluster/schema/parts.ts'
import { recordsPart } from '../../src/cluster/schema/records.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { readHead } from '../../src/store/records/record-head.ts'
import { recordsTable } from '../../src/store/records/records.ts'
import { OutboxStatements } from '../../src/store/replica/outbox-statements.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { PostgresServer } from './postgres-server.ts'

const dayMs = 86_400_000

/** The same records in a gateway's own tables and, as its node brings them, in PostgreSQL. */
export class PostgresRecords {
  readonly own: ReturnType<typeof recordsTable>
  /** The statements that were asked. */
  readonly asked: string[] = []
  readonly #server: PostgresServer
  readonly #client: pg.Client

  private constructor(server: PostgresServer, client: pg.Client, own: ReturnType<typeof recordsTable>) {
    this.#server = server
    this.#client = client
    this.own = own
  }

  static async start(records: readonly RequestRecord[]): Promise<PostgresRecords> {
    const server = await PostgresServer.start()
    const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
    await client.connect()
    await client.query(createSchema)
    await raisePart(client, recordsPart)
    await ensureDays(client, [...new Set(records.map(({ time }) => Math.floor(Date.parse(time) / dayMs)))])
    const { connection } = await openStore({ path: join(server.directory, 'spgw.db') })
    await connection.writeHot((hot) => {
      hot.outbox = new OutboxStatements(connection.sqlite)
      for (const record of records) {
        const text = JSON.stringify(record)
        const head = readHead(text, 'settled')
        if (head !== null) hot.writeRecord(head, 'boot-0', text)
      }
    })
    const wanted = { after: 0, most: records.length, mostBytes: Number.MAX_SAFE_INTEGER, node: 'gw-a' }
    const batch = await connection.readHot(({ outbox }) => outbox?.read(wanted) ?? null)
    if (batch !== null) await addRecords(client, batch.records)
    return new PostgresRecords(server, client, recordsTable(connection.db))
  }

  readonly ask: AskPostgres = async (text, values) => {
    this.asked.push(text)
    return (await this.#client.query(text, values)).rows
  }

  async remove(): Promise<void> {
    await this.#client.end()
    this.#server.remove()
  }
}
