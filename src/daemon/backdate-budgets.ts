import type { BookedAmount } from '../core/journal-format.ts'
import { type Limit, placeOfCounter } from '../core/policy-limits.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { type BudgetPeriod, findPeriod } from '../policy/limits/periods.ts'
import type { RecordFilter, StoreClient, UsageRow } from '../store/api.ts'
import type { ConfigurationSnapshot } from '../store/configuration/snapshot.ts'
import { findAddedBudgets, type Published } from './added-budgets.ts'
import type { Log } from './log.ts'

interface BudgetParts {
  store: StoreClient
  counters: LimitCounters
  log: Log
}

/**
 * A budget that is added in the middle of a day or month counts what that day or month has cost already, as its records say:
 * it is a budget of the month, and not of what is left of it. Requests in progress at that moment are not counted.
 */
export async function backdateBudgets(parts: BudgetParts, before: Published, after: Published): Promise<void> {
  const added = findAddedBudgets(before, after)
  if (added.length === 0) return
  const { store, counters, log } = parts
  try {
    // What has ended by now is in the records.
    await store.ingest()
    const missing = await findMissing(parts, added, after.configuration)
    if (missing.length === 0) return
    await store.spend.add(missing)
    for (const booked of missing) counters.addUsed(booked)
  } catch (error) {
    log.error('a budget that was added counts only what is spent from now on', { reason: String(error) })
  }
}

/** What the records of each budget come to beyond what it has counted. */
async function findMissing(
  { store, counters }: BudgetParts,
  added: readonly Limit[],
  configuration: ConfigurationSnapshot,
): Promise<BookedAmount[]> {
  const moment = { timeZone: configuration.timeZone, now: Date.now() }
  const read = new Map<string, UsageRow[]>()
  const missing: BookedAmount[] = []
  for (const limit of added) {
    const period = findPeriod(limit.period ?? 'day', moment.timeZone, moment.now)
    const filter = filterOf(limit, configuration, period)
    const name = JSON.stringify(filter)
    const rows = read.get(name) ?? (await store.records.usage(filter, new Date(moment.now).toISOString()))
    read.set(name, rows)
    // Read after the records, so that what ends meanwhile counts at most once.
    const amount = sumOf(limit, rows) - counters.budgetUse(limit, moment).used
    if (amount > 0) missing.push([limit.counter, period.name, amount])
  }
  return missing
}

/** The records that such a budget counts; those of all keys at once, of which each takes its own. */
function filterOf(
  { counter, scope }: Limit,
  { environments }: ConfigurationSnapshot,
  { start }: BudgetPeriod,
): RecordFilter {
  const filter = { limit: 1, since: new Date(start).toISOString() }
  const id = placeOfCounter(counter)
  if (scope.startsWith('project:')) return { ...filter, projects: [id] }
  if (scope.startsWith('provider:')) return { ...filter, provider: scope.slice('provider:'.length) }
  const environment = environments.find((each) => each.id === id)
  return environment === undefined
    ? filter
    : { ...filter, projects: [environment.projectId], environment: environment.name }
}

function sumOf({ counter, scope, kind }: Limit, rows: readonly UsageRow[]): number {
  const own = scope.startsWith('key:') ? rows.filter(({ id }) => id === placeOfCounter(counter)) : rows
  return own.reduce((sum, { whole }) => sum + (kind === 'usd' ? Math.round((whole.usd ?? 0) * 1e9) : whole.tokens), 0)
}
