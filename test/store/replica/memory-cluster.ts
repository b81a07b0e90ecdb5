import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AuditLine, StoreClient, Tables } from '../../../src/store/api.ts'
import { storeAccess } from '../../../src/store/operators/access.ts'
import { exportRows } from '../../../src/store/replica/apply-rows.ts'
import { Replica } from '../../../src/store/replica/replica.ts'
import type {
  ReplicaAnswers,
  ReplicaRequest,
  RowChange,
  SharedCall,
  TakenAway,
} from '../../../src/store/replica/replica-types.ts'
import { sharedTables } from '../../../src/store/replica/shared-tables.ts'
import { type SharedLog, SharedWriter } from '../../../src/store/replica/shared-write.ts'
import { type OpenStore, openStore } from '../../../src/store/sqlite/open.ts'
import { StoreReadOnly } from '../../../src/store/store-error.ts'
import { callTable } from '../../../src/store/tables.ts'
import { temporaryDirectory } from '../support.ts'

interface StoredRow {
  name: string
  key: string
  row: Record<string, unknown> | null
  sequence: number
}

/** What PostgreSQL does for a cluster (`src/cluster/schema/configuration.ts`), in memory. */
export class MemoryCluster {
  readonly rows = new Map<string, StoredRow>()
  readonly tokens = new Map<string, number>()
  sequence = 0

  append(expected: number, changes: readonly RowChange[], token: string): number | 'moved' {
    const done = this.tokens.get(token)
    if (done !== undefined) return done
    if (expected !== this.sequence) return 'moved'
    const sequence = ++this.sequence
    for (const change of changes) this.#put(change, sequence)
    this.tokens.set(token, sequence)
    return sequence
  }

  after(sequence: number) {
    const rows = [...this.rows.values()].filter((row) => row.sequence > sequence)
    return rows.map(({ name, key, row }) => ({ name, key, row: row === null ? null : JSON.stringify(row) }))
  }

  #put({ name, key, op, patch }: RowChange, sequence: number): void {
    const place = `${name} ${key}`
    const known = this.rows.get(place)?.row ?? null
    if (op === 'set' && known === null) return
    this.rows.set(place, { name, key, sequence, row: op === 'drop' ? null : { ...known, ...patch } })
  }
}

export class MemoryNode {
  readonly store: OpenStore
  readonly replica: Replica
  readonly writer: SharedWriter
  readonly #cluster: MemoryCluster
  away = false
  /** What others would be told past PostgreSQL. */
  readonly announced: TakenAway[] = []
  /** Called between the rehearsal and the append. */
  beforeAppend: () => Promise<void> = async () => {}

  constructor(store: OpenStore, cluster: MemoryCluster) {
    this.store = store
    this.#cluster = cluster
    this.replica = new Replica(store.connection, store.schemaVersion)
    const log: SharedLog = {
      trouble: () => (this.away ? 'PostgreSQL is away' : null),
      append: async ({ sequence, changes, token }) => {
        await this.beforeAppend()
        if (this.away) throw new StoreReadOnly('PostgreSQL is away')
        return this.#cluster.append(sequence, changes, token) === 'moved' ? 'moved' : 'appended'
      },
      catchUp: () => this.catchUp(),
      announce: (_call, taken) => void this.announced.push(taken),
    }
    const answer = (request: ReplicaRequest) => this.replica.answer(request)
    // The thread answers each request with what `ReplicaAnswers` says of it.
    const client = { replica: answer as StoreClient['replica'] }
    this.writer = new SharedWriter({ store: client, alone: (call) => callTable(store.connection, call), log })
  }

  async catchUp(): Promise<boolean> {
    const state = await this.replica.answer({ act: 'state' })
    const before = state !== null && typeof state === 'object' && 'sequence' in state ? Number(state.sequence) : 0
    const { sequence } = this.#cluster
    const rows = { rows: this.#cluster.after(before), sequence, mark: String(sequence), extent: 'changes' as const }
    if (sequence > before) await this.replica.answer({ act: 'apply', rows })
    return sequence > before
  }

  /** The tables, as every part of the gateway sees them. */
  tables(audit: AuditLine | null = null): Tables {
    const call = (table: string, method: string, access: string) => async (input: unknown[]) => {
      const made: SharedCall = { table, method, input, audit }
      return access === 'write' ? await this.writer.write(made) : await callTable(this.store.connection, made)
    }
    const tables = Object.entries(storeAccess).map(([table, methods]) => [
      table,
      Object.fromEntries(
        Object.entries(methods).map(([method, access]) => [
          method,
          async (...input: unknown[]) => await call(table, method, access)(input),
        ]),
      ),
    ])
    return Object.fromEntries(tables)
  }

  /** All that nodes share, without what each counts for itself. */
  content(): string[] {
    return exportRows(this.store.connection.sqlite)
      .map(({ name, key, row }) => {
        const own = sharedTables.find((table) => table.name === name)?.own ?? []
        const shared = Object.entries(JSON.parse(row ?? '{}')).filter(([column]) => !own.includes(column))
        return `${name} ${key} ${JSON.stringify(shared)}`
      })
      .sort()
  }
}

/** Of that many nodes; the first brings its rows, the others join. */
export async function startMemoryCluster(count: number): Promise<{ cluster: MemoryCluster; nodes: MemoryNode[] }> {
  const directory = temporaryDirectory()
  const cluster = new MemoryCluster()
  const nodes: MemoryNode[] = []
  for (let number = 0; number < count; number++) {
    const store = await openStore({ path: join(directory, `${number}.db`) })
    onTestFinished(() => store.close())
    nodes.push(new MemoryNode(store, cluster))
  }
  for (const [number, node] of nodes.entries()) {
    let digest = ''
    if (number === 0) {
      const exported = (await node.replica.answer({ act: 'export' })) as ReplicaAnswers['export']
      const { rows } = exported
      digest = exported.digest
      const changes = rows.map(
        ({ name, key, row }): RowChange => ({ name, key, op: 'put', patch: JSON.parse(row ?? '') }),
      )
      cluster.append(0, changes, 'first')
    }
    const { sequence } = cluster
    const state = { cluster: 'clu_1', member: `node_${number}`, sequence, mark: String(sequence) }
    if (number === 0) await node.replica.answer({ act: 'enter', state, rows: null, digest })
    else await node.replica.answer({ act: 'enter', state, rows: cluster.after(0) })
  }
  return { cluster, nodes }
}
