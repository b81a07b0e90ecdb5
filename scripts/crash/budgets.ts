import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import type { AdminClient } from '../../src/admin/client.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { bundle } from '../bundle.ts'
import { type BudgetKeys, BudgetLoad } from './budget-load.ts'
import { LimitOracle } from './budget-oracle.ts'
import { BudgetProvider, longestAnswer } from './budget-provider.ts'
import { CrashGateway } from './gateway.ts'
import { type Random, seededRandom } from './random.ts'
import { readRecords } from './scene.ts'

export interface BudgetCrashOptions {
  kills: number
  seed: number
  clients: number
  /** The packaged gateway. */
  executable: string
  /** A bundle with fault points; default: a new one. */
  tests?: string
  onRun?(done: number, problems: number): void
}

export interface BudgetCrashResult {
  seed: number
  runs: number
  settled: number
  interrupted: number
  refused: number
  deadThreads: number
  /** Nano-dollars: the budget at the end, what the records come to, and by how much uses exceeded their holds. */
  limit: number
  recorded: number
  estimateErrors: number
  problems: string[]
  /** Kept when there is a problem; null when all is well. */
  directory: string | null
}

const policy = 'five-cents'
const limited = { name: 'limited', policy: 'a-minute', tpm: 40_000, concurrency: 12 }
const nanoPerUsd = 1e9
/** Each run may spend so much more. */
const usdEachRun = 0.05
const threads = '4'
const longestRunMs = 2500
/** Calls that must have ended before a kill, however slow the machine is. */
const fewestCalls = 200
/** USD a million tokens. */
const rates = { priced: { input: 0.1, output: 0.4 }, claude: { input: 0.3, output: 1.5 } } as const
/** Where a thread dies in a run, as far as there are runs: between two entries of the journal, and by its heap. */
const deaths = ['journal.after-admitted:90:throw', 'journal.before-settled:70:heap', 'journal.after-settled:110:throw']

const bounds = {
  longest: longestAnswer,
  usdPerToken: { priced: rates.priced.output / 1e6, claude: rates.claude.output / 1e6 },
}

/**
 * Kills gateways under clients that spend a budget, and threads of gateways that go on; and holds what limits and budgets count
 * against the records: the same to the nano-dollar, never more than was allowed, and no refusal while there was room.
 */
export async function runBudgetCrashes(options: BudgetCrashOptions): Promise<BudgetCrashResult> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-budgets-'))
  if (options.tests === undefined) await bundle(join(directory, 'tests'), { forTests: true })
  const provider = await new BudgetProvider(seededRandom(options.seed)).listen()
  const run = new BudgetRun(options, provider, directory)
  try {
    await run.furnish()
    for (let done = 0; done < options.kills; done++) {
      await run.spendAndKill(done + 1)
      options.onRun?.(done + 1, run.problems.length)
    }
    const result = await run.conclude()
    if (result.problems.length > 0) return { ...result, directory }
    await rm(directory, { recursive: true, force: true })
    return result
  } finally {
    await provider.close()
  }
}

class BudgetRun {
  readonly problems: string[] = []
  readonly #options: BudgetCrashOptions
  readonly #provider: BudgetProvider
  readonly #directory: string
  readonly #dataDirectory: string
  readonly #random: Random
  #keys: BudgetKeys = { spender: '', limited: '' }
  #limit = 0
  /** Of the clients of the last gateway, by the tags of their calls. */
  #seen: Pick<BudgetLoad, 'lastBytes' | 'unanswered'> = { lastBytes: new Map(), unanswered: new Map() }
  #deadThreads = 0
  #records: RequestRecord[] = []
  /** Of gateways before the one whose records are looked at. */
  #earlier: RequestRecord[] = []
  /** One fault is one problem, however often it is seen. */
  readonly #refusals = new Set<string>()

  constructor(options: BudgetCrashOptions, provider: BudgetProvider, directory: string) {
    this.#options = options
    this.#provider = provider
    this.#directory = directory
    this.#dataDirectory = join(directory, 'data')
    this.#random = seededRandom(options.seed + 1)
  }

  async furnish(): Promise<void> {
    await mkdir(this.#dataDirectory, { recursive: true })
    const { gateway } = await this.#start()
    await gateway.withAdmin(async (admin) => {
      const { origin } = this.#provider
      await admin.providers.add({ name: 'mock', kind: 'openai', credential: 'sk-mock', baseUrl: `${origin}/v1` })
      await admin.providers.add({ name: 'mock-a', kind: 'anthropic', credential: 'sk-ant-mock', baseUrl: origin })
      await admin.routes.add({ model: 'priced', targets: ['mock'] })
      await admin.routes.add({ model: 'claude', targets: ['mock-a'] })
      for (const [model, price] of Object.entries(rates))
        await admin.prices.set({ model, ...price, maxOutput: longestAnswer })
      this.#keys.spender = (await admin.keys.create({ name: 'spender' })).key
      this.#keys.limited = (await admin.keys.create({ name: limited.name })).key
      await admin.policies.add({ name: policy, budgetUsdMonth: 0, attach: ['workspace'] })
      const { tpm, concurrency } = limited
      await admin.policies.add({ name: limited.policy, tpm, concurrency, attach: ['key:default/production/limited'] })
    })
    await gateway.kill()
  }

  async spendAndKill(number: number): Promise<void> {
    const death = deaths[number - 1]
    const { gateway, baseUrl } = await this.#start(death)
    await gateway.withAdmin(async (admin) => {
      await this.#compare(admin)
      this.#earlier = this.#records
      this.#limit = Math.round(usdEachRun * number * nanoPerUsd)
      await admin.policies.edit({ name: policy, budgetUsdMonth: this.#limit / nanoPerUsd })
    })
    const load = new BudgetLoad(baseUrl, this.#keys, this.#random, this.#options.clients)
    this.#seen = load
    await wait(this.#random.between(100, longestRunMs))
    while (load.ended < fewestCalls || (death !== undefined && deadThreadsOf(gateway) === 0)) await wait(20)
    if (death !== undefined) {
      // What the dead thread held, and what all others have settled.
      await load.pause()
      await gateway.withAdmin((admin) => this.#compare(admin, 'after a death'))
      load.resume()
      await wait(this.#random.between(50, 300))
    }
    this.#deadThreads += deadThreadsOf(gateway)
    await gateway.kill()
    await load.end()
  }

  async conclude(): Promise<BudgetCrashResult> {
    const { gateway } = await this.#start()
    await gateway.withAdmin((admin) => this.#compare(admin))
    await gateway.kill()
    const records = this.#records
    const stateCount = (state: RequestRecord['state']) => records.filter((each) => each.state === state).length
    const refused = records.filter(({ error }) => error?.code === 'budget_exceeded' || error?.code === 'rate_limited')
    return {
      seed: this.#options.seed,
      runs: this.#options.kills,
      settled: stateCount('settled') - refused.length,
      interrupted: stateCount('interrupted'),
      refused: refused.length,
      deadThreads: this.#deadThreads,
      limit: this.#limit,
      recorded: sumCosts(records),
      estimateErrors: sumErrors(records),
      problems: this.problems,
      directory: null,
    }
  }

  /** `death`: a fault point at which a thread dies, which only builds for tests have. */
  async #start(death?: string): Promise<{ gateway: CrashGateway; baseUrl: string }> {
    const released = { command: this.#options.executable, leading: [] }
    const tests = {
      command: process.execPath,
      leading: [this.#options.tests ?? join(this.#directory, 'tests/main.js')],
    }
    const environment = {
      SPGW_GATEWAY_WORKERS: threads,
      ...(death === undefined ? {} : { SPGW_FAULT_POINT: death }),
    }
    const program = death === undefined ? released : tests
    const gateway = new CrashGateway({ program, dataDirectory: this.#dataDirectory, environment })
    const baseUrl = await gateway.ready
    if (baseUrl === null) throw new Error(`the gateway did not start: ${gateway.output}`)
    return { gateway, baseUrl }
  }

  /** The counter, the records, the store's own sum and the budget, once every request of dead gateways has its end. */
  async #compare(admin: AdminClient, when: 'after a start' | 'after a death' = 'after a start'): Promise<void> {
    do {
      await wait(50)
      this.#records = await readRecords(admin, new Date(0))
    } while (this.#records.some(({ state }) => state === 'admitted'))
    this.#askOracle()
    const { used, held } = await settledUsage(admin)
    const recorded = sumCosts(this.#records)
    const stored = this.#storedSpend()
    // A thread that runs out of heap takes with it what it has not written: what it held for that counts until the next start.
    const isRight = when === 'after a start' ? used === recorded : used >= recorded
    if (!isRight || stored !== recorded)
      this.problems.push(`${when} the budget counts ${used}, the store ${stored}, the records come to ${recorded}`)
    if (held !== 0) this.problems.push(`${held} USD are held by nobody`)
    const errors = sumErrors(this.#records)
    if (recorded > this.#limit + errors)
      this.problems.push(`${recorded} were spent of ${this.#limit}; uses exceeded holds by ${errors}`)
    const unbounded = this.#records.filter(({ state, cost }) => state === 'interrupted' && cost === null)
    if (unbounded.length > 0) this.problems.push(`${unbounded.length} interrupted requests have no cost`)
    const running = (await admin.policies.usage({ name: limited.policy }))[0]?.limits.find(isConcurrency)?.used
    if (running !== 0) this.problems.push(`${running} requests run, and nobody waits for any`)
  }

  /** In one life of a gateway the counters of a minute begin empty. */
  #askOracle(): void {
    const earlier = new Set(this.#earlier.map(({ id }) => id))
    const records = this.#records.filter(({ id }) => !earlier.has(id))
    const seen = records.flatMap(({ id, tags }) => {
      const at = this.#seen.lastBytes.get(tags?.call ?? '')
      return at === undefined ? [] : [[id, at] as const]
    })
    const known = new Set(records.map(({ tags }) => tags?.call))
    const lost = [...this.#seen.unanswered].filter(([tag]) => !known.has(tag)).map(([, span]) => span)
    const oracle = new LimitOracle(bounds, limited, new Map(seen), lost)
    for (const problem of oracle.check(records, sumCosts(this.#earlier) / nanoPerUsd)) {
      if (!this.#refusals.has(problem)) this.problems.push(problem)
      this.#refusals.add(problem)
    }
  }

  #storedSpend(): number {
    const database = new DatabaseSync(join(this.#dataDirectory, 'spgw.db'), { readOnly: true })
    const row = database
      .prepare(`select coalesce(sum(amount), 0) as spent from spend where counter like '% usd month'`)
      .get()
    database.close()
    return Number(row?.spent)
  }
}

const isConcurrency = ({ kind }: { kind: string }) => kind === 'concurrency'

/** Some of what is held is let go only when a client that left has been noticed. */
async function settledUsage(admin: AdminClient): Promise<{ used: number; held: number }> {
  for (let tries = 0; ; tries++) {
    const [usage] = await admin.policies.usage({ name: policy })
    const [period] = usage?.periods ?? []
    const found = { used: Math.round((period?.used ?? Number.NaN) * nanoPerUsd), held: period?.held ?? Number.NaN }
    if (found.held === 0 || tries === 100) return found
    await wait(50)
  }
}

function deadThreadsOf(gateway: CrashGateway): number {
  return gateway.output.split('a data-plane thread crashed').length - 1
}

function sumCosts(records: readonly RequestRecord[]): number {
  return records.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * nanoPerUsd), 0)
}

function sumErrors(records: readonly RequestRecord[]): number {
  return records.reduce((sum, record) => sum + Math.round((record.estimate_error ?? 0) * nanoPerUsd), 0)
}
