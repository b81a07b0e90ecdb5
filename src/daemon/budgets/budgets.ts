import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterFace } from '../../admin/handlers/context.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import { emptyConfiguration } from '../../gateway/thread/empty-configuration.ts'
import type { LimitCounters } from '../../policy/limits/limit-counters.ts'
import { findPeriod } from '../../policy/limits/periods.ts'
import type { StoreClient } from '../../store/api.ts'
import type { Log } from '../log.ts'
import type { Published } from './added-budgets.ts'
import type { CountingNode } from './backdate-budgets.ts'

const lookEveryMs = 1000
/** By which the clock moves against one that nobody sets, before it was set. */
const stepMs = 5000

type OwnNode = Pick<ClusterFace, 'cluster'> & CountingNode

/** What budgets have used: at the start what earlier processes spent, and where one is added what was spent before it. */
export class Budgets {
  readonly #store: StoreClient
  readonly #counters: LimitCounters
  readonly #log: Log
  readonly #node: OwnNode | null
  readonly #retryMs: number
  /** Of which cluster this gateway is a member; null: of none. */
  #cluster: string | null = null
  #before: Published = { configuration: emptyConfiguration, keys: [] }
  /** Resolves when what earlier processes spent is counted; null: it is. */
  #opening: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()
  #ahead: number

  constructor(store: StoreClient, counters: LimitCounters, log: Log, node: OwnNode | null, retryMs = 1000) {
    this.#store = store
    this.#counters = counters
    this.#log = log
    this.#node = node
    this.#retryMs = retryMs
    this.#ahead = this.#now() - performance.now()
  }

  /**
   * Budgets let nothing pass before all that earlier processes left in the journal is stored, and it is known what they spent. All
   * else is served meanwhile.
   */
  open(): Promise<void> {
    this.#opening = this.#read((used, held) => this.#counters.seed(used, held)).finally(() => {
      this.#opening = null
    })
    setInterval(() => void this.look(), lookEveryMs).unref()
    return this.#opening
  }

  /**
   * Where the clock was set, the day or month is another one. What was spent of it before this process began, or before a clock that was
   * ahead made room for a later one, is in the store alone. Resolves when it counts again.
   */
  async look(now = this.#now(), steady = performance.now()): Promise<void> {
    const step = Math.abs(now - steady - this.#ahead)
    this.#ahead = now - steady
    if (step < stepMs) return
    await this.#opening
    const { restoreBudgets } = await import('../../policy/limits/restore-budgets.ts')
    await this.#read((used, held, open) => restoreBudgets(this.#counters.budgetParts, used, held, open))
  }

  /** Resolves when budgets that were added by the last change count what was spent before it. */
  async follow(after: Published): Promise<void> {
    const before = this.#before
    const cluster = this.#node?.cluster() ?? null
    const moved = cluster !== this.#cluster
    this.#before = after
    this.#cluster = cluster
    // At a start, what was spent by then is in the store; a gateway that joins spent nothing of the budgets that it meets.
    if (before.configuration === emptyConfiguration || moved || isSame(before, after)) return
    const opening = this.#opening
    const member = cluster === null ? null : this.#node
    const parts = { store: this.#store, counters: this.#counters, log: this.#log, cluster: member }
    this.#running = this.#running.then(async () => {
      await opening
      const { backdateBudgets } = await import('./backdate-budgets.ts')
      await backdateBudgets(parts, before, after)
    })
    if (opening === null) await this.#running
  }

  /** By which days and months change: in a cluster by its clock, whatever this machine's is set to. */
  #now(): number {
    return Date.now() + this.#counters.budgetParts.rows.clockAhead
  }

  async #read(take: TakeSpend): Promise<void> {
    for (;;) {
      try {
        const { used, held, open } = await readSpend(this.#store, () => this.#now())
        return take(used, held, open)
      } catch (error) {
        const reason = String(error)
        this.#log.error('what budgets have used cannot be read, so they let nothing pass', { reason })
        await wait(this.#retryMs, undefined, { ref: false })
      }
    }
  }
}

/** `held`: by batches; `open`: by requests that had not settled. */
type TakeSpend = (used: readonly BookedAmount[], held: readonly BookedAmount[], open: readonly BookedAmount[]) => void

const isSame = (one: Published, other: Published) =>
  one.configuration === other.configuration && one.keys === other.keys

async function readSpend(store: StoreClient, clock: () => number) {
  await store.ingest()
  const { timeZone } = await store.workspace.get()
  const now = clock()
  // A day or month that begins after this begins at nothing.
  return store.spend.list([findPeriod('day', timeZone, now).name, findPeriod('month', timeZone, now).name])
}
