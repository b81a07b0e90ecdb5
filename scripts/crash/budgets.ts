import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { AdminClient } from '../../src/admin/client.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { BudgetProvider } from './budget-provider.ts'
import { CrashGateway } from './gateway.ts'
import { type Random, seededRandom } from './random.ts'
import { readRecords } from './scene.ts'

export interface BudgetCrashOptions {
  kills: number
  seed: number
  clients: number
  /** The packaged gateway. */
  executable: string
  onRun?(done: number, problems: number): void
}

export interface BudgetCrashResult {
  seed: number
  runs: number
  settled: number
  interrupted: number
  refused: number
  /** Nano-dollars: the budget at the end, what the records come to, and by how much uses exceeded their holds. */
  limit: number
  recorded: number
  estimateErrors: number
  problems: string[]
  /** Kept when there is a problem; null when all is well. */
  directory: string | null
}

const model = 'priced'
const policy = 'five-cents'
const nanoPerUsd = 1e9
/** Each run may spend so much more. */
const usdEachRun = 0.05
const threads = '4'
const longestRunMs = 2500
/** Calls that must have ended before a kill, however slow the machine is. */
const fewestCalls = 200

/**
 * Kills gateways under clients that spend a budget, and holds what the budget counts against the records after each start: the
 * same to the nano-dollar, and never more than the budget and what uses exceeded their holds by.
 */
export async function runBudgetCrashes(options: BudgetCrashOptions): Promise<BudgetCrashResult> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-budgets-'))
  const provider = await new BudgetProvider(seededRandom(options.seed)).listen()
  const run = new BudgetRun(options, provider, join(directory, 'data'))
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
  readonly #dataDirectory: string
  readonly #random: Random
  #key = ''
  #limit = 0
  #records: RequestRecord[] = []

  constructor(options: BudgetCrashOptions, provider: BudgetProvider, dataDirectory: string) {
    this.#options = options
    this.#provider = provider
    this.#dataDirectory = dataDirectory
    this.#random = seededRandom(options.seed + 1)
  }

  async furnish(): Promise<void> {
    await mkdir(this.#dataDirectory, { recursive: true })
    const { gateway } = await this.#start()
    await gateway.withAdmin(async (admin) => {
      const { baseUrl } = this.#provider
      await admin.providers.add({ name: 'mock', kind: 'openai', credential: 'sk-mock', baseUrl })
      await admin.routes.add({ model, targets: ['mock'] })
      await admin.prices.set({ model, input: 0.1, output: 0.4, maxOutput: 400 })
      this.#key = (await admin.keys.create({ name: 'load' })).key
      await admin.policies.add({ name: policy, budgetUsdDay: 0, attach: ['workspace'] })
    })
    await gateway.kill()
  }

  async spendAndKill(number: number): Promise<void> {
    const { gateway, baseUrl } = await this.#start()
    await gateway.withAdmin(async (admin) => {
      await this.#compare(admin)
      this.#limit = Math.round(usdEachRun * number * nanoPerUsd)
      await admin.policies.edit({ name: policy, budgetUsdDay: this.#limit / nanoPerUsd })
    })
    let ended = false
    let calls = 0
    const play = async () => {
      while (!ended) {
        await this.#send(baseUrl).catch(() => wait(20))
        calls++
      }
    }
    const clients = Array.from({ length: this.#options.clients }, play)
    await wait(this.#random.between(100, longestRunMs))
    while (calls < fewestCalls) await wait(20)
    await gateway.kill()
    ended = true
    await Promise.all(clients)
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
      limit: this.#limit,
      recorded: sumCosts(records),
      estimateErrors: sumErrors(records),
      problems: this.problems,
      directory: null,
    }
  }

  async #start(): Promise<{ gateway: CrashGateway; baseUrl: string }> {
    const program = { command: this.#options.executable, leading: [] }
    const environment = { SPGW_GATEWAY_WORKERS: threads }
    const gateway = new CrashGateway({ program, dataDirectory: this.#dataDirectory, environment })
    const baseUrl = await gateway.ready
    if (baseUrl === null) throw new Error(`the gateway did not start: ${gateway.output}`)
    return { gateway, baseUrl }
  }

  /** The counter, the records and the budget, once every request of dead gateways has its end. */
  async #compare(admin: AdminClient): Promise<void> {
    do {
      await wait(50)
      this.#records = await readRecords(admin, new Date(0))
    } while (this.#records.some(({ state }) => state === 'admitted'))
    const [usage] = await admin.policies.usage({ name: policy })
    const [period] = usage?.periods ?? []
    const used = Math.round((period?.used ?? Number.NaN) * nanoPerUsd)
    const recorded = sumCosts(this.#records)
    if (used !== recorded) this.problems.push(`the budget counts ${used}, the records come to ${recorded}`)
    if (period?.held !== 0) this.problems.push(`${period?.held} USD are held by nobody`)
    const errors = sumErrors(this.#records)
    if (recorded > this.#limit + errors)
      this.problems.push(`${recorded} were spent of ${this.#limit}; uses exceeded holds by ${errors}`)
    const unbounded = this.#records.filter(({ state, cost }) => state === 'interrupted' && cost === null)
    if (unbounded.length > 0) this.problems.push(`${unbounded.length} interrupted requests have no cost`)
  }

  /** One request, of any form; some clients leave in the midst of it. */
  #send(baseUrl: string): Promise<void> {
    const random = this.#random
    const streamed = random.chance(0.5)
    const body = JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'x'.repeat(random.between(10, 4000)) }],
      ...(random.chance(0.6) ? { max_completion_tokens: random.between(1, 300) } : {}),
      ...(streamed ? { stream: true, stream_options: { include_usage: true } } : {}),
    })
    const leaves = random.chance(0.15)
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
      const sent = httpRequest(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers })
      sent.once('error', reject)
      sent.once('response', (response) => {
        response.resume()
        response.once('error', reject)
        // A refusal that waiting may cure is waited for, so that clients do not ask at full speed.
        response.once('close', () => void wait(response.statusCode === 429 ? 30 : 0).then(resolve))
        if (leaves) void wait(random.between(0, 40)).then(() => sent.destroy())
      })
      sent.end(body)
    })
  }
}

function sumCosts(records: readonly RequestRecord[]): number {
  return records.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * nanoPerUsd), 0)
}

function sumErrors(records: readonly RequestRecord[]): number {
  return records.reduce((sum, record) => sum + Math.round((record.estimate_error ?? 0) * nanoPerUsd), 0)
}
