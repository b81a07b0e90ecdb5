import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ORPCError } from '@orpc/client'
import type { AdminClient } from '../../src/admin/client.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { Account } from './account.ts'
import type { CallKind, Stage } from './call.ts'
import { Changes } from './changes.ts'
import { Load } from './client.ts'
import { furnish, newStage, startProviders } from './furnish.ts'
import { CrashGateway, type Program } from './gateway.ts'
import type { CrashProvider, Ledger } from './provider.ts'
import type { Random } from './random.ts'

export interface Programs {
  /** What is handed out. */
  released: Program
  /** The same with fault points. */
  tests: Program
}

const pageRecords = 1000

/** What stays while gateways come and go: the data directory, the providers, and the account of what was seen. */
export class Scene {
  readonly account: Account
  readonly changes: Changes
  readonly random: Random
  readonly directory: string
  readonly dataDirectory: string
  readonly programs: Programs
  readonly #stage: Stage
  readonly #providers: CrashProvider[]
  readonly #seed: number
  #marks = 0
  /** Records before this have been looked at. */
  #lookedUntil = new Date(0)

  private constructor(options: SceneOptions, ledger: Ledger, providers: CrashProvider[], stage: Stage) {
    this.random = options.random
    this.directory = options.directory
    this.dataDirectory = join(options.directory, 'data')
    this.programs = options.programs
    this.#seed = options.seed
    this.#providers = providers
    this.#stage = stage
    this.account = new Account(ledger)
    const [openai] = providers
    if (openai === undefined) throw new Error('no provider')
    this.changes = new Changes(stage, openai, options.random)
  }

  /** Providers that listen, and a data directory with routes to them and a key. */
  static async set(options: SceneOptions): Promise<Scene> {
    const { random } = options
    const ledger: Ledger = new Map()
    const providers = await startProviders(ledger, random)
    const stage = newStage()
    const scene = new Scene(options, ledger, providers, stage)
    await mkdir(scene.dataDirectory, { recursive: true })
    const gateway = scene.start()
    await gateway.ready
    await gateway.withAdmin((admin) => furnish(admin, providers, stage))
    await gateway.kill()
    return scene
  }

  start(program: Program = this.programs.released, environment: Record<string, string> = {}): CrashGateway {
    return new CrashGateway({ program, dataDirectory: this.dataDirectory, environment })
  }

  load(baseUrl: string, clients = 8, only?: CallKind): Load {
    const { random, account } = this
    return new Load({
      baseUrl,
      stage: this.#stage,
      random,
      clients,
      ...(only ? { only } : {}),
      nextMark: () => `mark-${this.#seed}-${++this.#marks}`,
      onCall: (call) => account.add(call),
    })
  }

  /** What has come to the records since the last look; every call so far must belong to a gateway that is dead. */
  async look(admin: AdminClient): Promise<void> {
    const begun = new Date()
    // A request may be older than its gateway's last look by as long as a start takes.
    const since = new Date(this.#lookedUntil.getTime() - 60_000)
    const resolve = (id: string) => admin.requests.show({ id }).catch(unlessFound)
    this.account.checkObjects(await readOwners(admin))
    await this.account.check(await readRecords(admin, since), resolve)
    this.#lookedUntil = begun
    await this.changes.settle(admin, this.account)
  }

  async close(): Promise<void> {
    await Promise.all(this.#providers.map((provider) => provider.close()))
  }
}

export interface SceneOptions {
  seed: number
  random: Random
  directory: string
  programs: Programs
}

function unlessFound(error: unknown): null {
  if (error instanceof ORPCError && error.code === 'not_found') return null
  throw error
}

/** The requests that made the newest stored answers: more than there can be between two looks. */
async function readOwners(admin: AdminClient): Promise<Set<string | null>> {
  const objects = await admin.objects.list({ type: 'chat_completion', all: true, limit: pageRecords })
  return new Set(objects.map(({ request_id }) => request_id))
}

/** Page by page, newest first. */
export async function readRecords(admin: AdminClient, since: Date): Promise<RequestRecord[]> {
  const records: RequestRecord[] = []
  for (;;) {
    const before = records.at(-1)?.id
    const page = await admin.requests.list({
      since: since.toISOString(),
      limit: pageRecords,
      ...(before === undefined ? {} : { before }),
    })
    records.push(...page)
    if (page.length < pageRecords) return records
  }
}
