import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../../test/support/postgres-server.ts'
import type { RedisServer } from '../../test/support/redis-server.ts'
import { renderTable } from './report.ts'
import { median } from './statistics.ts'

interface EngineFigures {
  /** CPU, in µs. */
  postgres: number
  valkey: number
  walBytes: number
  diskBytes: number
}

/** What both servers have used until now; `at`: milliseconds since some moment. */
type EngineReading = EngineFigures & { at: number }

/** What they have used in between. */
export interface EngineUse extends EngineFigures {
  tookMs: number
  requests: number
}

/** What PostgreSQL and Valkey use for their nodes. */
export class Engines {
  readonly #postgres: PostgresServer
  readonly #redis: RedisServer

  constructor(postgres: PostgresServer, redis: RedisServer) {
    this.#postgres = postgres
    this.#redis = redis
  }

  async read(): Promise<EngineReading> {
    const [wal, disk] = this.#postgres
      .query("select pg_current_wal_lsn() - '0/0', (select sum(pg_total_relation_size(inhrelid)) from pg_inherits)")
      .split('|')
    return {
      at: performance.now(),
      postgres: familyMicros(this.#postgres.processId),
      valkey: await readCpu(this.#redis),
      walBytes: Number(wal),
      diskBytes: Number(disk),
    }
  }

  async since(before: EngineReading, requests: number): Promise<EngineUse> {
    const now = await this.read()
    return {
      requests,
      tookMs: now.at - before.at,
      postgres: now.postgres - before.postgres,
      valkey: now.valkey - before.valkey,
      walBytes: now.walBytes - before.walBytes,
      diskBytes: now.diskBytes - before.diskBytes,
    }
  }
}

/** `idle`: of nodes without traffic; `loaded`: of rounds in which they had some. */
export function renderEngines(nodes: number, idle: EngineUse, loaded: readonly EngineUse[]): string {
  const share = (use: EngineUse, read: (use: EngineUse) => number) => read(use) / use.tookMs / 10 / nodes
  const each = (read: (use: EngineUse) => number) => median(loaded.map((use) => read(use) / use.requests)).toFixed(1)
  // Without what they would have used anyway.
  const more = (read: (use: EngineUse) => number) => each((use) => read(use) - (read(idle) / idle.tookMs) * use.tookMs)
  const row = (name: string, read: (use: EngineUse) => number) => [
    ...[name, `${share(idle, read).toFixed(2)} %`],
    ...[more(read), name === 'Valkey' ? '' : each(({ walBytes }) => walBytes)],
    name === 'Valkey' ? '' : each(({ diskBytes }) => diskBytes),
  ]
  return renderTable(
    ['', 'of a core for each idle node', 'CPU µs a request besides', 'WAL bytes a record', 'bytes on disk a record'],
    [row('PostgreSQL', ({ postgres }) => postgres), row('Valkey', ({ valkey }) => valkey)],
  )
}

const tickMicros = 10_000

/** Of a process, of those that it has started, and of those of them that have ended. */
function familyMicros(pid: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? readTimes(name) : null
    if (times === null) continue
    if (times.pid === pid) ticks += times.own + times.ended
    else if (times.parent === pid) ticks += times.own
  }
  return ticks * tickMicros
}

function readTimes(name: string): { pid: number; parent: number; own: number; ended: number } | null {
  try {
    const text = readFileSync(join('/proc', name, 'stat'), 'utf8')
    // A program's name may have spaces.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11)
    return { pid: Number(name), parent, own: user + system, ended: endedUser + endedSystem }
  } catch {
    return null
  }
}

async function readCpu(redis: RedisServer): Promise<number> {
  const text = await redis.command('INFO', 'CPU')
  const seconds = [...text.matchAll(/used_cpu_(?:sys|user):([\d.]+)/g)].map(([, value]) => Number(value))
  return seconds.reduce((sum, each) => sum + each, 0) * 1e6
}
