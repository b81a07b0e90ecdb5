import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { RecordReading } from '../../src/cluster/readings/reading.ts'
import { Readings } from '../../src/cluster/readings/readings.ts'
import { ensureDays } from '../../src/cluster/records/days.ts'
import { addRecords } from '../../src/cluster/records/write-records.ts'
import { createSchema } from '../../src/cluster/schema/configuration.ts'
import { raisePart } from '../../src/cluster/schema/parts.ts'
import { recordColumns, recordsPart } from '../../src/cluster/schema/records.ts'
import { idAt } from '../../src/store/records/id-time.ts'
import { sumAmounts } from '../../src/store/records/record-sum-keys.ts'
import { OutboxStatements } from '../../src/store/replica/outbox-statements.ts'
import { labelColumns } from '../../src/store/replica/outbox-types.ts'
import type { Connection } from '../../src/store/sqlite/connection.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { PostgresServer } from '../../test/support/postgres-server.ts'
import { dayMs, invent, makeRare, storePiece, weekMs } from './fill.ts'
import type { Store } from './readings.ts'

const node = 'gw-a'
/** Copies of days that are made at once. */
const copiesAtOnce = 2

export interface FillingPostgres {
  records: number
  days: number
  onStored(records: number): void
}

/**
 * A PostgreSQL with records as nodes bring them. The oldest week and the current one are stored, read as a batch of the outbox and
 * written as a node writes it; the weeks between are copies of the oldest, with its sums, which PostgreSQL makes by itself.
 */
export async function fillPostgres({ records, days, onStored }: FillingPostgres): Promise<PostgresServer> {
  const server = await PostgresServer.start()
  const directory = mkdtempSync(join(tmpdir(), 'spgw-scale-'))
  const clients = await Promise.all(Array.from({ length: copiesAtOnce }, () => connect(server)))
  try {
    const [client] = clients as [pg.Client]
    for (const setting of ['max_wal_size = "16GB"', 'checkpoint_timeout = "1h"', 'autovacuum = off'])
      server.query(`alter system set ${setting.replaceAll('"', "'")}`)
    server.query('select pg_reload_conf()')
    await client.query(createSchema)
    await raisePart(client, recordsPart)
    const until = Date.now()
    // As the sums of a gateway alone count weeks: from the epoch.
    const thisWeek = Math.floor(until / weekMs) * weekMs
    const weeks = Math.max(1, Math.round(days / 7))
    const from = thisWeek - weeks * weekMs
    const first = from / dayMs
    await ensureDays(
      client,
      Array.from({ length: Math.ceil((until - from) / dayMs) + 1 }, (_, later) => first + later),
    )
    const ofWeek = Math.round((records * weekMs) / (until - from))
    let stored = 0
    const onMore = (more: number) => {
      stored += more
      onStored(stored)
    }
    const { connection, close } = await openStore({ path: join(directory, 'spgw.db') })
    connection.sqlite.pragma('synchronous = off')
    await connection.writeHot((hot) => {
      hot.outbox = new OutboxStatements(connection.sqlite)
    })
    const ship = async (more: number) => {
      await bringTo(client, connection)
      onMore(more)
    }
    await invent(connection, { records: ofWeek, from, until: from + weekMs, seed: 1 }, ship)
    await copyWeeks(clients, { from, weeks }, () => onMore(Math.round(ofWeek / 7)))
    await invent(connection, { records: records - weeks * ofWeek - 1, from: thisWeek, until, seed: 2 }, ship)
    await storePiece(connection, makeRare(from))
    await ship(1)
    await close()
    await client.query('vacuum analyze')
    return server
  } catch (error) {
    server.remove()
    throw error
  } finally {
    await Promise.all(clients.map((each) => each.end()))
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What a node of that cluster reads, in place of its own tables. */
export function readPostgres({ port }: PostgresServer): Store & { close(): Promise<void> } {
  const server = { host: '127.0.0.1', port, user: 'spgw', password: null, database: 'postgres' }
  const stop = async () => {
    throw new Error('nothing is stopped here')
  }
  const readings = new Readings({ ...server, authority: null, plain: true }, { ask: stop })
  const { signal } = new AbortController()
  const answer = async <Output>(reading: RecordReading) => (await readings.answer(reading, signal)) as Output
  const records: Store['records'] = {
    list: (...input) => answer({ method: 'list', input }),
    search: (...input) => answer({ method: 'search', input }),
    get: (...input) => answer({ method: 'get', input }),
    stats: (...input) => answer({ method: 'stats', input }),
    series: (...input) => answer({ method: 'series', input }),
  }
  return { records, close: () => readings.close() }
}

async function connect(server: PostgresServer): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port: server.port, user: 'spgw', database: 'postgres' })
  await client.connect()
  return client
}

/** All that waits, which is then no longer here. */
async function bringTo(client: pg.Client, connection: Connection): Promise<void> {
  const batch = await connection.readHot(
    ({ outbox }) =>
      outbox?.read({ after: 0, most: Number.MAX_SAFE_INTEGER, mostBytes: Number.MAX_SAFE_INTEGER, node }) ?? null,
  )
  if (batch === null) return
  await client.query('begin')
  await addRecords(client, batch.records)
  await client.query('commit')
  await connection.writeHot(() => connection.sqlite.exec('delete from outbox; delete from records'))
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The same random part of an id at another time, and the time of a record as it is written. */
const functions = `
create or replace function pg_temp.later_id(id text, by bigint) returns text language plpgsql immutable as $$
declare moment bigint := 0; written text := '';
begin
  for place in 5..14 loop moment := moment * 32 + strpos('${alphabet}', substr(id, place, 1)) - 1; end loop;
  moment := moment + by;
  for place in 1..10 loop
    written := substr('${alphabet}', (moment % 32)::int + 1, 1) || written;
    moment := moment / 32;
  end loop;
  return substr(id, 1, 4) || written || substr(id, 15);
end $$;
create or replace function pg_temp.later_text(moment text, form text, by interval) returns text language sql stable as $$
  select to_char(case length(moment) when 13 then moment || ':00' else rtrim(moment, 'Z') end::timestamp + by, form) $$`

const laterSpan = `pg_temp.later_text(start, case span when 'hour' then 'YYYY-MM-DD"T"HH24' else 'YYYY-MM-DD' end, $1)`

interface Weeks {
  /** Milliseconds since the epoch, where the first of them begins. */
  from: number
  weeks: number
}

/** Whole weeks lie between a record and its copies, so that hours and days of the sums are those of the first. */
async function copyWeeks(clients: readonly pg.Client[], { from, weeks }: Weeks, onCopied: () => void): Promise<void> {
  const copies = Array.from({ length: (weeks - 1) * 7 }, (_, index) => ({
    day: index % 7,
    later: 1 + Math.floor(index / 7),
  }))
  const moved = recordColumns.map((name) => {
    if (name === 'id') return 'later_id'
    if (name === 'time') return 'later_time'
    return name === 'record_json' ? 'replace(replace(record_json, id, later_id), time, later_time)' : name
  })
  const others = ['node', 'label', 'state', 'status', 'error_code', ...labelColumns, ...sumAmounts, 'latencies']
  await Promise.all(
    clients.map(async (client) => {
      await client.query(functions)
      for (let copy = copies.shift(); copy !== undefined; copy = copies.shift()) {
        const begin = from + copy.day * dayMs
        await client.query(
          `insert into spgw.records (${recordColumns}) select ${moved} from (
             select *, pg_temp.later_id(id, $1) as later_id,
               pg_temp.later_text(time, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"', $2) as later_time
             from spgw.records where id >= $3 and id < $4) found`,
          [copy.later * weekMs, `${copy.later} weeks`, idAt(begin), idAt(begin + dayMs)],
        )
        onCopied()
      }
    }),
  )
  const [client] = clients as [pg.Client]
  const first = new Date(from + weekMs).toISOString().slice(0, 10)
  const laterDay = `pg_temp.later_text(start, 'YYYY-MM-DD', $1)`
  const tables = {
    record_sums: ['span', ...others],
    tag_sums: ['tag', ...others],
    tag_days: ['node', ...sumAmounts, 'rows', 'overflow'],
  }
  for (let later = 1; later < weeks; later++)
    for (const [table, columns] of Object.entries(tables)) {
      const start = table === 'record_sums' ? laterSpan : laterDay
      await client.query(
        `insert into spgw.${table} (start, ${columns}) select ${start}, ${columns} from spgw.${table} where start < $2`,
        [`${later} weeks`, first],
      )
    }
}
