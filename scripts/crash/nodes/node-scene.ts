import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { AdminClient } from '../../../src/admin/client.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { type ClusterNode, TestCluster } from '../../../test/support/cluster.ts'
import type { GatewayProgram } from '../../../test/support/gateway.ts'
import type { PostgresServer } from '../../../test/support/postgres-server.ts'
import { RedisServer } from '../../../test/support/redis-server.ts'
import { Account } from '../account.ts'
import { BudgetLoad } from '../budget-load.ts'
import { BudgetProvider, longestAnswer } from '../budget-provider.ts'
import type { Stage } from '../call.ts'
import { Load } from '../client.ts'
import { furnish, newStage, startProviders } from '../furnish.ts'
import type { CrashProvider } from '../provider.ts'
import { type Random, seededRandom } from '../random.ts'
import { readRecords } from '../scene.ts'

interface NodeSceneOptions {
  seed: number
  /** With fault points. */
  tests: GatewayProgram
  /** How many clients send to each node, one request after the other. */
  clients: number
  names?: readonly string[]
}

const budgetUsd = 0.05
const quietMs = 60_000

/** Nodes of the packaged executable on a real PostgreSQL and a real Valkey or Redis, and the account of what clients saw. */
export class NodeScene {
  readonly account: Account
  readonly random: Random
  readonly cluster: TestCluster
  readonly redis: RedisServer
  readonly tests: GatewayProgram
  readonly stage: Stage
  readonly spender: string
  readonly #options: NodeSceneOptions
  readonly #providers: CrashProvider[]
  readonly #budgetProvider: BudgetProvider
  readonly #loads = new Map<string, Load>()
  readonly #spending = new Map<string, BudgetLoad>()
  readonly #closing: (() => Promise<void> | void)[] = []
  readonly #ending: (() => void)[] = []
  /** What nodes that are no members any more have, by the records' ids, and whose stored answers they know. */
  readonly #apart = new Map<string, RequestRecord>()
  readonly #ownersApart = new Set<string>()
  /** Projects whose making was acknowledged. */
  readonly #projects = new Set<string>()
  #marks = 0

  private constructor(options: NodeSceneOptions, parts: SceneParts) {
    this.#options = options
    this.random = parts.random
    this.account = parts.account
    this.cluster = parts.cluster
    this.redis = parts.redis
    this.tests = options.tests
    this.stage = parts.stage
    this.spender = parts.spender
    this.#providers = parts.providers
    this.#budgetProvider = parts.budgetProvider
  }

  static async set(options: NodeSceneOptions): Promise<NodeScene> {
    const random = seededRandom(options.seed)
    const account = new Account(new Map())
    const providers = await startProviders(account.ledger, random)
    const budgetProvider = await new BudgetProvider(random).listen()
    const redis = await RedisServer.start()
    const names = options.names ?? ['gw-a', 'gw-b', 'gw-c']
    const cluster = await TestCluster.start(names, { valkeyPort: redis.port, records: 'shared' })
    const stage = newStage()
    const parts = { random, account, providers, budgetProvider, redis, cluster, stage, spender: '' }
    const { admin } = requireNode(cluster, names[0] ?? '').gateway
    await furnish(admin, providers, stage)
    parts.spender = await addBudget(admin, budgetProvider)
    await cluster.converge()
    return new NodeScene(options, parts)
  }

  get nodes(): readonly ClusterNode[] {
    return this.cluster.nodes
  }

  /** The one that takes writes now. */
  get postgres(): PostgresServer {
    return this.cluster.postgres
  }

  node(name: string): ClusterNode {
    return requireNode(this.cluster, name)
  }

  /** Clients of all nodes, which go on until `settle`. */
  begin(kinds: readonly ('calls' | 'spending')[] = ['calls']): void {
    for (const node of this.nodes) {
      if (kinds.includes('calls')) this.#loads.set(node.name, this.#load(node))
      if (kinds.includes('spending')) this.#spending.set(node.name, this.#spend(node))
    }
  }

  /** Nobody hears of it before; its clients come back to it when it runs again. */
  async kill(node: ClusterNode): Promise<void> {
    await node.gateway.kill('SIGKILL')
    await this.#dismiss(node)
  }

  async restart(node: ClusterNode, ...options: Parameters<ClusterNode['restart']>): Promise<void> {
    const [calls, spends] = [this.#loads.has(node.name), this.#spending.has(node.name)]
    await this.#dismiss(node)
    await node.restart(...options)
    if (calls) this.#loads.set(node.name, this.#load(node))
    if (spends) this.#spending.set(node.name, this.#spend(node))
  }

  /** Leaves the cluster with nothing under way, and is stopped. */
  async retire(node: ClusterNode): Promise<void> {
    await this.#end(node)
    await node.gateway.admin.cluster.leave({})
    await node.gateway.stop()
    this.cluster.nodes.splice(this.cluster.nodes.indexOf(node), 1)
  }

  /**
   * One that was removed, or has left, under its clients: they turn elsewhere, and what it has counts besides what PostgreSQL has.
   * Returns how many records it has alone.
   */
  async depart(node: ClusterNode): Promise<number> {
    await this.#end(node)
    const { admin } = node.gateway
    if ((await admin.cluster.status({})).cluster !== null) await admin.cluster.leave({})
    const there = new Set(await this.#list('select id from spgw.records'))
    // Of what its clients left in the midst of, the last is settled a moment later.
    let records = await readRecords(admin, new Date(0))
    while (records.some(({ state }) => state === 'admitted')) {
      await wait(100)
      records = await readRecords(admin, new Date(0))
    }
    const alone = records.filter(({ id }) => !there.has(id))
    for (const record of alone) this.#apart.set(record.id, record)
    await node.gateway.stop()
    for (const id of readOwners(node.dataDirectory)) this.#ownersApart.add(id)
    this.cluster.nodes.splice(this.cluster.nodes.indexOf(node), 1)
    return alone.length
  }

  /** Once it is alone its budgets are its own. */
  async endSpending({ name }: ClusterNode): Promise<void> {
    await this.#spending.get(name)?.end()
    this.#spending.delete(name)
  }

  /** One more member, with clients of these kinds. */
  async join(name: string, kinds: readonly ('calls' | 'spending')[]): Promise<ClusterNode> {
    const node = await this.cluster.add(name)
    if (kinds.includes('calls')) this.#loads.set(name, this.#load(node))
    if (kinds.includes('spending')) this.#spending.set(name, this.#spend(node))
    return node
  }

  /** How many requests of the spenders have ended by now. */
  get spent(): number {
    return [...this.#spending.values()].reduce((sum, { ended }) => sum + ended, 0)
  }

  /** A change that must hold from then on, if it is acknowledged. */
  async addProject(node: ClusterNode, name: string): Promise<boolean> {
    const made = await node.gateway.admin.projects.add({ name }).then(
      () => true,
      () => false,
    )
    if (made) this.#projects.add(name)
    return made
  }

  problem(what: string): void {
    this.account.wrong(what)
  }

  onClose(close: () => Promise<void> | void): void {
    this.#closing.push(close)
  }

  /** Where this process ends with the scene still set. */
  onEnd(end: () => void): void {
    this.#ending.push(end)
  }

  /** Ends the clients, and resolves when all nodes have brought what they have to PostgreSQL. */
  async settle(): Promise<void> {
    for (const node of this.nodes) await this.#end(node)
    let until = Date.now() + quietMs
    for (const { name, gateway } of this.nodes)
      for (let left = Number.POSITIVE_INFINITY; ; ) {
        const { trouble, outbox } = await gateway.admin.cluster.status({})
        if (trouble === null && outbox?.records === 0 && outbox.trouble === null) break
        // After minutes without PostgreSQL there is much to bring.
        if (outbox !== null && outbox.records < left) until = Date.now() + quietMs
        left = Math.min(left, outbox?.records ?? left)
        if (Date.now() > until)
          throw new Error(
            `${name} is not quiet: ${trouble ?? JSON.stringify(outbox)}\n${gateway.stderr().slice(-2000)}`,
          )
        await wait(100)
      }
    // What is journaled comes into the outbox a moment later; whatever is not there in the end is lost.
    while (Date.now() < until && (await this.#missing()) > 0) await wait(200)
  }

  /** Everything at once: records, sums, budgets, replicas, chains, what was acknowledged. */
  async verify(): Promise<{ records: number; interrupted: number }> {
    await this.settle()
    await this.cluster.converge().catch((error: unknown) => this.problem(String(error)))
    const [reader] = this.nodes
    if (reader === undefined) throw new Error('there is no node')
    const { admin } = reader.gateway
    const shared = await readRecords(admin, new Date(0))
    const ids = new Set(shared.map(({ id }) => id))
    const all = [...shared, ...[...this.#apart.values()].filter(({ id }) => !ids.has(id))]
    const own = all.filter(({ tags }) => tags.mark !== undefined)
    const owners = await this.#list("select request_id from spgw.objects where type = 'chat_completion'")
    this.account.checkObjects(new Set([...owners, ...this.#ownersApart]))
    await this.account.check(own, async () => null)
    this.account.checkAll(own)
    const [served, recorded] = [this.account.served(), this.account.recorded(own)]
    if (JSON.stringify(served) !== JSON.stringify(recorded))
      this.problem(`providers served ${JSON.stringify(served)}; recorded is ${JSON.stringify(recorded)}`)
    this.#checkSums()
    this.#checkSpent(all)
    const projects = new Set((await admin.projects.list({})).map(({ name }) => name))
    for (const name of this.#projects) if (!projects.has(name)) this.problem(`the change ${name} was lost`)
    return { records: all.length, interrupted: all.filter(({ state }) => state === 'interrupted').length }
  }

  /** How many calls have no record in PostgreSQL by now. */
  async #missing(): Promise<number> {
    const there = new Set(await this.#list("select record_json::json->'tags'->>'mark' from spgw.records"))
    for (const { tags } of this.#apart.values()) there.add(tags.mark ?? '')
    return this.account.due().filter((mark) => !there.has(mark)).length
  }

  /** Nodes go on meanwhile, through the proxies of this process. */
  async #list(text: string): Promise<string[]> {
    return (await this.postgres.queryBeside(text)).trim().split('\n')
  }

  query(text: string): string {
    return this.postgres.query(text).trim()
  }

  /** What runs ends with this process, however that ends. */
  endAtOnce(): void {
    for (const { gateway } of this.nodes) gateway.signal('SIGKILL')
    this.redis.signal('SIGKILL')
    this.postgres.remove()
    for (const end of this.#ending) end()
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await this.#end(node).catch(() => {})
    for (const close of this.#closing) await close()
    await this.cluster.stop()
    await this.redis.remove()
    await Promise.all([...this.#providers, this.#budgetProvider].map((provider) => provider.close()))
  }

  /** In any hour and day: what stands in the sums is what the records come to. */
  #checkSums(): void {
    const figures = 'count(*), sum(input), sum(output), round(sum(usd * 1e9))'
    const sums = 'sum(requests), sum(input), sum(output), sum(usd_nano)'
    const records = this.query(`select node, ${figures} from spgw.records group by 1 order by 1`)
    for (const span of ['hour', 'day']) {
      const summed = this.query(
        `select node, ${sums} from spgw.record_sums where span = '${span}' group by 1 order by 1`,
      )
      if (summed !== records) this.problem(`the sums of each ${span} are ${summed}; the records come to ${records}`)
    }
  }

  #checkSpent(records: Awaited<ReturnType<typeof readRecords>>): void {
    const own = records.filter(({ key }) => key?.name === 'spender')
    const spent = own.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0)
    const errors = own.reduce((sum, { estimate_error: error }) => sum + (error ?? 0), 0)
    if (spent > budgetUsd + errors + 1e-9) this.problem(`overspent: ${spent} of ${budgetUsd}`)
  }

  #load({ gateway: { baseUrl } }: ClusterNode): Load {
    const { stage, random, account } = this
    const { clients, seed } = this.#options
    return new Load({
      ...{ baseUrl, stage, random, clients },
      nextMark: () => `mark-${seed}-${++this.#marks}`,
      onCall: (call) => account.add(Object.assign(call, { to: baseUrl })),
    })
  }

  #spend({ gateway: { baseUrl } }: ClusterNode): BudgetLoad {
    return new BudgetLoad(baseUrl, { spender: this.spender, limited: this.spender }, this.random, this.#options.clients)
  }

  /** The node is dead: none of its clients has anything under way. */
  async #dismiss({ name }: ClusterNode): Promise<void> {
    await Promise.all([this.#loads.get(name)?.end(), this.#spending.get(name)?.end()])
  }

  async #end(node: ClusterNode): Promise<void> {
    await this.#dismiss(node)
    this.#loads.delete(node.name)
    this.#spending.delete(node.name)
  }
}

interface SceneParts {
  random: Random
  account: Account
  providers: CrashProvider[]
  budgetProvider: BudgetProvider
  redis: RedisServer
  cluster: TestCluster
  stage: Stage
  spender: string
}

function requireNode(cluster: TestCluster, name: string): ClusterNode {
  const found = cluster.nodes.find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no node ${name}`)
  return found
}

/** The requests that made what a stopped node knows of stored answers. */
function readOwners(dataDirectory: string): string[] {
  const sqlite = new Sqlite(join(dataDirectory, 'spgw.db'), { readonly: true })
  try {
    const found = sqlite.prepare("select request_id from objects where type = 'chat_completion'").pluck().all()
    return found.map(String)
  } finally {
    sqlite.close()
  }
}

/** Five cents, and a key that spends them. */
async function addBudget(admin: AdminClient, { origin }: BudgetProvider): Promise<string> {
  await admin.providers.add({ name: 'mock', kind: 'openai', credential: 'sk-mock', baseUrl: `${origin}/v1` })
  await admin.providers.add({ name: 'mock-a', kind: 'anthropic', credential: 'sk-ant-mock', baseUrl: origin })
  await admin.routes.add({ model: 'priced', targets: ['mock'] })
  await admin.routes.add({ model: 'claude', targets: ['mock-a'] })
  await admin.prices.set({ model: 'priced', input: 0.1, output: 0.4, maxOutput: longestAnswer })
  await admin.prices.set({ model: 'claude', input: 0.3, output: 1.5, maxOutput: longestAnswer })
  await admin.policies.add({ name: 'five-cents', budgetUsdMonth: budgetUsd })
  const { key } = await admin.keys.create({ name: 'spender', policy: 'five-cents' })
  return key
}
