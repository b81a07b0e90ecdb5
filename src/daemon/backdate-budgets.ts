import type { BookedAmount } from '../core/journal-format.ts'
import type { Limit } from '../core/policy-limits.ts'
import { emptyConfiguration } from '../gateway/thread/empty-configuration.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { type BudgetPeriod, findPeriod } from '../policy/limits/periods.ts'
import type { RecordFilter, StoreClient, UsageRow } from '../store/api.ts'
import { findAddedBudgets, type Published } from './added-budgets.ts'
import type { Log } from './log.ts'

interface BackdatedBudgetsOptions {
  store: StoreClient
  counters: LimitCounters
  log: Log
  published(): Published
}

/**
 * A budget that is added in the middle of a day or month counts what that day or month has cost already, as its records say:
 * it is a budget of the month, and not of what is left of it. Requests in progress at that moment are not counted.
 */
export class BackdatedBudgets {
  readonly #options: BackdatedBudgetsOptions
  #before: Published = { configuration: emptyConfiguration, keys: [] }
  /** Resolves when what earlier processes spent is counted; null: it is. */
  #opening: Promise<void> | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(options: BackdatedBudgetsOptions) {
    this.#options = options
  }

  /** Budgets count nothing before this resolves. */
  opens(opening: Promise<void>): void {
    this.#opening = opening.finally(() => {
      this.#opening = null
    })
  }

  /** Resolves when budgets that were added by the last change count what was spent before it. */
  async follow(): Promise<void> {
    const [before, after] = [this.#before, this.#options.published()]
    if (before.configuration === after.configuration && before.keys === after.keys) return
    this.#before = after
    // A start: what was spent by then is in the store.
    if (before.configuration === emptyConfiguration) return
    const added = findAddedBudgets(before, after)
    if (added.length === 0) return
    const opening = this.#opening
    this.#running = this.#running.then(() => opening).then(() => this.#backdate(added, after))
    if (opening === null) await this.#running
  }

  async #backdate(added: readonly Limit[], after: Published): Promise<void> {
    const { store, counters, log } = this.#options
    try {
      // What has ended by now is in the records.
      await store.ingest()
      const missing = await this.#findMissing(added, after)
      if (missing.length === 0) return
      await store.spend.add(missing)
      for (const booked of missing) counters.addUsed(booked)
    } catch (error) {
      log.error('a budget that was added counts only what is spent from now on', { reason: String(error) })
    }
  }

  /** What the records of each budget come to beyond what it has counted. */
  async #findMissing(added: readonly Limit[], { configuration }: Published): Promise<BookedAmount[]> {
    const { store, counters } = this.#options
    const moment = { timeZone: configuration.timeZone, now: Date.now() }
    const read = new Map<string, Promise<UsageRow[]>>()
    const missing: BookedAmount[] = []
    for (const limit of added) {
      const period = findPeriod(limit.period ?? 'day', moment.timeZone, moment.now)
      const filter = filterOf(limit, configuration, period)
      const name = JSON.stringify(filter)
      const rows = await (read.get(name) ?? store.records.usage(filter, new Date(moment.now).toISOString()))
      read.set(name, Promise.resolve(rows))
      // Read after the records, so that what ends meanwhile counts at most once.
      const amount = sumOf(limit, rows) - counters.budgetUse(limit, moment).used
      if (amount > 0) missing.push([limit.counter, period.name, amount])
    }
    return missing
  }
}

/** The records that such a budget counts; those of all keys at once, of which each takes its own. */
function filterOf(
  { counter, scope }: Limit,
  configuration: ConfigurationPlaces,
  { start }: BudgetPeriod,
): RecordFilter {
  const filter = { limit: 1, since: new Date(start).toISOString() }
  const id = placeOf(counter)
  if (scope.startsWith('project:')) return { ...filter, projects: [id] }
  if (scope.startsWith('provider:')) return { ...filter, provider: scope.slice('provider:'.length) }
  const environment = configuration.environments.find((each) => each.id === id)
  return environment === undefined
    ? filter
    : { ...filter, projects: [environment.projectId], environment: environment.name }
}

type ConfigurationPlaces = Pick<Published['configuration'], 'environments'>

const placeOf = (counter: string): string => counter.split(' ')[1] ?? ''

function sumOf({ counter, scope, kind }: Limit, rows: readonly UsageRow[]): number {
  const own = scope.startsWith('key:') ? rows.filter(({ id }) => id === placeOf(counter)) : rows
  return own.reduce((sum, { whole }) => sum + (kind === 'usd' ? Math.round((whole.usd ?? 0) * 1e9) : whole.tokens), 0)
}
