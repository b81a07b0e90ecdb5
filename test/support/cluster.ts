import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { exportRows } from '../../src/store/replica/apply-rows.ts'
import { sharedTables } from '../../src/store/replica/shared-tables.ts'
import { FaultProxy } from './fault-proxy.ts'
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts'
import type { MockProvider } from './mock-provider.ts'
import { PostgresServer } from './postgres-server.ts'
import type { Surroundings } from './storage-fault.ts'

export interface ClusterNode {
  name: string
  /** To PostgreSQL. */
  proxy: FaultProxy
  /** To Valkey; null: there is none. */
  valkeyProxy: FaultProxy | null
  dataDirectory: string
  gateway: TestGateway
  /** After a kill, on the same data; the point strikes the new process. */
  restart(faultPoint?: string, more?: Pick<GatewayOptions, 'program' | 'environment'>): Promise<void>
}

/** Real nodes on a real PostgreSQL, each behind a proxy of its own. */
export class TestCluster {
  /** The one that nodes find. */
  postgres: PostgresServer
  readonly nodes: ClusterNode[] = []
  /** As whom nodes connect to PostgreSQL from their next start on. */
  user = 'spgw'
  /** Of Valkey; null: each node counts limits for itself. */
  readonly #valkeyPort: number | null
  readonly #records: 'local' | 'shared'
  readonly #proxies: FaultProxy[] = []
  readonly #directories: string[] = []

  private constructor(postgres: PostgresServer, valkeyPort: number | null, records: 'local' | 'shared') {
    this.postgres = postgres
    this.#valkeyPort = valkeyPort
    this.#records = records
  }

  static async start(
    names: readonly string[],
    { valkeyPort = null, records = 'local' }: { valkeyPort?: number | null; records?: 'local' | 'shared' } = {},
  ): Promise<TestCluster> {
    const cluster = new TestCluster(await PostgresServer.start(), valkeyPort, records)
    try {
      for (const name of names) await cluster.add(name)
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  /** The first founds the cluster, the others join it. */
  async add(name: string, surround?: (dataDirectory: string) => Surroundings): Promise<ClusterNode> {
    const node = await this.addAlone(name, surround)
    const [first] = this.nodes
    if (first === node || first === undefined) {
      await node.gateway.admin.cluster.init({})
      return node
    }
    const { token } = await first.gateway.admin.cluster.invite({})
    await node.gateway.admin.cluster.join({ token })
    return node
  }

  node(name: string): ClusterNode {
    const found = this.nodes.find((each) => each.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  /** On the first node: a provider for `askChat`, and the route to it. */
  async addChat({ baseUrl }: Pick<MockProvider, 'baseUrl'>, credential: string): Promise<void> {
    const { admin, addRoute } = this.node(this.nodes[0]?.name ?? '').gateway
    await admin.providers.add({ name: 'up', kind: 'openai', baseUrl, credential, skipCheck: true })
    await addRoute('gpt-4o-mini', ['up'])
  }

  /** One that is not a member of anything yet, and has reached PostgreSQL. */
  async addAlone(name: string, surround?: (dataDirectory: string) => Surroundings): Promise<ClusterNode> {
    const proxy = await FaultProxy.start(this.postgres.port)
    this.#proxies.push(proxy)
    const dataDirectory = mkdtempSync(join(tmpdir(), `spgw-${name}-`))
    this.#directories.push(dataDirectory, `${dataDirectory}.yaml`)
    const valkeyProxy = this.#valkeyPort === null ? null : await FaultProxy.start(this.#valkeyPort)
    if (valkeyProxy !== null) this.#proxies.push(valkeyProxy)
    const limits =
      valkeyProxy === null ? '  limits: local\n' : `  limits: shared\n  valkey: redis://127.0.0.1:${valkeyProxy.port}\n`
    const config = () => `cluster:
  postgres: postgres://${this.user}@127.0.0.1:${proxy.port}/postgres
  node: ${name}
${limits}  records: ${this.#records}
gateway:
  workers: 1
`
    // A file system of its own hides what is below it.
    const settingsFile = `${dataDirectory}.yaml`
    const place = () => {
      if (surround === undefined) return { config: config() }
      writeFileSync(settingsFile, config())
      return { ...surround(dataDirectory), flags: ['--config', settingsFile] }
    }
    const start: (...options: Parameters<ClusterNode['restart']>) => Promise<TestGateway> = (faultPoint, more) =>
      startGateway({
        ...{ dataDirectory, ...place(), ...more },
        environment: { ...more?.environment, ...(faultPoint === undefined ? {} : { SPGW_FAULT_POINT: faultPoint }) },
      })
    const node: ClusterNode = {
      ...{ name, proxy, valkeyProxy, dataDirectory, gateway: await start() },
      async restart(...options) {
        node.gateway = await start(...options)
      },
    }
    this.nodes.push(node)
    while ((await node.gateway.admin.cluster.status({})).trouble !== null)
      await new Promise((resolve) => setTimeout(resolve, 25))
    return node
  }

  /** A standby took over. Whoever made it removes it, and what was here before. */
  leadTo(postgres: PostgresServer): void {
    this.postgres = postgres
    for (const { proxy } of this.nodes) proxy.leadTo(postgres.port)
  }

  /** Resolves when all nodes that run hold the same, and their chains are whole. */
  async converge(): Promise<void> {
    const until = Date.now() + 30_000
    for (;;) {
      const states = await Promise.all(this.nodes.map(({ gateway }) => gateway.admin.cluster.status({})))
      const sequences = new Set(states.map(({ sequence }) => sequence))
      const isQuiet = sequences.size === 1 && states.every(({ trouble, pending }) => trouble === null && pending === 0)
      const contents = isQuiet ? this.nodes.map(({ dataDirectory }) => readContent(dataDirectory)) : []
      // One may have written a line since it was asked.
      if (isQuiet && contents.every((content) => content === contents[0])) break
      if (Date.now() > until) {
        if (!isQuiet) throw new Error(`the nodes do not converge: ${JSON.stringify(states)}`)
        throw new Error(`the replicas differ:\n${contents.join('\n---\n')}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    for (const { gateway } of this.nodes) {
      const { problem } = await gateway.admin.audit.verify({})
      if (problem !== null) throw new Error(`the audit trail is broken: ${problem}`)
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ gateway }) => gateway.stop().catch(() => {})))
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
    for (const directory of this.#directories) rmSync(directory, { recursive: true, force: true })
    this.postgres.remove()
  }
}

/** All that nodes share, without what each counts for itself. */
function readContent(dataDirectory: string): string {
  const sqlite = new Sqlite(join(dataDirectory, 'spgw.db'), { readonly: true })
  try {
    const rows = exportRows(sqlite).map(({ name, key, row }) => {
      const own = sharedTables.find((table) => table.name === name)?.own ?? []
      const shared = Object.entries(JSON.parse(row ?? '{}')).filter(([column]) => !own.includes(column))
      return `${name} ${key} ${JSON.stringify(shared)}`
    })
    return rows.sort().join('\n')
  } finally {
    sqlite.close()
  }
}
