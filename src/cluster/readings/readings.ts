import type pg from 'pg'
import { idTime } from '../../core/ids.ts'
import type { RequestRecord } from '../../core/record.ts'
import type { FoundBodies } from '../../store/api.ts'
import { attemptSeries } from '../../store/records/attempt-series.ts'
import { idAt } from '../../store/records/id-time.ts'
import { recordAttempts } from '../../store/records/record-attempts.ts'
import { recordSeries } from '../../store/records/record-series.ts'
import { recordStats } from '../../store/records/record-stats.ts'
import { recordTargets } from '../../store/records/record-targets.ts'
import { recordUsage } from '../../store/records/record-usage.ts'
import { type Backend, OwnConnection, stopBackend } from '../own-connection.ts'
import type { Postgres } from '../postgres.ts'
import type { PostgresAddress, Questions } from '../protocol.ts'
import { findBodies, readOtherBodies } from '../records/bodies.ts'
import { PostgresSource } from './postgres-source.ts'
import type { AskPostgres, RecordReading } from './reading.ts'
import { readRecords, type StoredRow, searchRecords } from './search.ts'

/** PostgreSQL cancels longer statements. */
const statementMs = 30_000
/** Several, so that a long reading does not delay others. */
const readingsAtOnce = 3
/**
 * Memory per connection for the groups of a month with their latencies. Otherwise PostgreSQL sorts in files: 90 days took a quarter longer.
 */
const memoryMegabytes = 32
/** If an operator has configured more, that stays. */
const giveMemory = `select set_config('work_mem', '${memoryMegabytes}MB', false)
  where pg_size_bytes(current_setting('work_mem')) < ${memoryMegabytes * 2 ** 20}`
/** Rows in one SQLite transaction. */
const othersAtOnce = 500

/** Readings of the records of all nodes, over connections of their own. */
export class Readings {
  /** Each is opened when those before it are busy. */
  readonly #connections: readonly OwnConnection[]

  constructor(address: PostgresAddress, main: Pick<Postgres, 'ask'>) {
    const onOpen = async (client: pg.Client) => void (await client.query(giveMemory))
    const stop = (backend: Backend) => main.ask((client) => stopBackend(client, backend))
    this.#connections = Array.from(
      { length: readingsAtOnce },
      () => new OwnConnection({ address, statementMs, stop, onOpen }),
    )
  }

  /** If the signal fires, the reading is cancelled in PostgreSQL. */
  async answer(reading: RecordReading, signal: AbortSignal): Promise<unknown> {
    const ask: AskPostgres = (text, values) => this.#ask(text, values, signal)
    const source = new PostgresSource(ask)
    switch (reading.method) {
      case 'list':
        return (await searchRecords(ask, reading.input[0], Number.POSITIVE_INFINITY)).records
      case 'search':
        return await searchRecords(ask, ...reading.input)
      case 'get':
        return await get(ask, ...reading.input)
      case 'stats':
        return await recordStats(source, ...reading.input)
      case 'usage':
        return await recordUsage(source, ...reading.input)
      case 'series':
        return await recordSeries(source, ...reading.input)
      case 'attemptSeries':
        return await attemptSeries(source, ...reading.input)
      case 'attempts':
        return await recordAttempts(source, ...reading.input)
      case 'targets':
        return await recordTargets(source, ...reading.input)
    }
  }

  /** For a node that continues alone with the records of all nodes; each record names its node. */
  async readOthers({ node, since, after }: Questions['read-others']['input']) {
    const rows = await this.#ask<StoredRow & { state: string }>(
      `select id, node, state, record_json, repeats::float8 as repeats, last_time from spgw.records
       where id > $1 and (node <> $2 or id < $3) order by id limit ${othersAtOnce}`,
      [after, node, since],
    )
    const last = rows.at(-1)?.id
    if (last === undefined) return null
    const records = rows.map(({ node, state, record_json, repeats, last_time }) => ({
      ...{ text: JSON.stringify({ ...JSON.parse(record_json), state, node }), repeats, last_time },
    }))
    return { records, last }
  }

  async readOtherBodies(input: Questions['read-other-bodies']['input']) {
    return await readOtherBodies(this.#ask, input)
  }

  async findBodies(id: string): Promise<FoundBodies> {
    return await findBodies(this.#ask, id)
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()))
  }

  /** Oldest first. */
  async byIds(ids: readonly string[]): Promise<RequestRecord[]> {
    return await readRecords((text, values) => this.#ask(text, values), 'id = any ($1) order by id', [ids])
  }

  readonly #ask = async <Row extends pg.QueryResultRow>(text: string, values: unknown[], signal?: AbortSignal) => {
    const idlest = this.#connections.reduce((best, each) => (each.waiting < best.waiting ? each : best))
    const { rows } = await idlest.use((client) => client.query<Row>(text, values), signal)
    return rows
  }
}

/** By id, or the shared record of refusals for the time at which the id was made. */
async function get(ask: AskPostgres, id: string): Promise<RequestRecord | null> {
  const [known] = await readRecords(ask, 'id = $1', [id])
  const time = idTime(id)
  if (known !== undefined || time === null) return known ?? null
  const shared = 'repeats is not null and id < $1 and last_time >= $2 order by id desc limit 1'
  const [found] = await readRecords(ask, shared, [idAt(time + 1), new Date(time).toISOString()])
  return found ?? null
}
