import { setTimeout as wait } from 'node:timers/promises'
import { emptyConfiguration } from '../gateway/thread/empty-configuration.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { findPeriod } from '../policy/limits/periods.ts'
import type { StoreClient } from '../store/api.ts'
import type { Published } from './added-budgets.ts'
import type { Log } from './log.ts'

/** What budgets have used: at the start what earlier processes spent, and where one is added what was spent before it. */
export class Budgets {
  readonly #store: StoreClient
  readonly #counters: LimitCounters
  readonly #log: Log
  readonly #retryMs: number
  #before: Published = { configuration: emptyConfiguration, keys: [] }
  /** Resolves when what earlier processes spent is counted; null: it is. */
  #opening: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(store: StoreClient, counters: LimitCounters, log: Log, retryMs = 1000) {
    this.#store = store
    this.#counters = counters
    this.#log = log
    this.#retryMs = retryMs
  }

  /**
   * Budgets let nothing pass before all that earlier processes left in the journal is stored, and it is known what they spent. All
   * else is served meanwhile.
   */
  open(): Promise<void> {
    this.#opening = this.#seed().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  /** Resolves when budgets that were added by the last change count what was spent before it. */
  async follow(after: Published): Promise<void> {
    const before = this.#before
    this.#before = after
    // At a start, what was spent by then is in the store.
    if (before.configuration === emptyConfiguration || isSame(before, after)) return
    const opening = this.#opening
    const parts = { store: this.#store, counters: this.#counters, log: this.#log }
    this.#running = this.#running.then(async () => {
      await opening
      const { backdateBudgets } = await import('./backdate-budgets.ts')
      await backdateBudgets(parts, before, after)
    })
    if (opening === null) await this.#running
  }

  async #seed(): Promise<void> {
    for (;;) {
      try {
        const { used, held } = await readSpend(this.#store)
        return this.#counters.seed(used, held)
      } catch (error) {
        const reason = String(error)
        this.#log.error('what budgets have used cannot be read, so they let nothing pass', { reason })
        await wait(this.#retryMs, undefined, { ref: false })
      }
    }
  }
}

const isSame = (one: Published, other: Published) =>
  one.configuration === other.configuration && one.keys === other.keys

async function readSpend(store: StoreClient) {
  await store.ingest()
  const { timeZone } = await store.workspace.get()
  const now = Date.now()
  // A day or month that begins after this begins at nothing.
  return store.spend.list([findPeriod('day', timeZone, now).name, findPeriod('month', timeZone, now).name])
}
