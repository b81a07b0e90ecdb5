import type { ClusterFace, SpentBudget } from '../../admin/handlers/context.ts'
import { nanoOfUsd } from '../../core/cost/money.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import { type Limit, placeOfCounter } from '../../core/policies/policy-limits.ts'
import type { LimitCounters } from '../../policy/limits/limit-counters.ts'
import { type BudgetPeriod, findPeriod } from '../../policy/limits/periods.ts'
import type { RecordFilter, StoreClient, UsageRow } from '../../store/api.ts'
import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'
import type { Log } from '../log.ts'
import { findAddedBudgets, type Published } from './added-budgets.ts'

interface BudgetParts {
  store: StoreClient
  counters: LimitCounters
  log: Log
  /** What it is a member of; null: this gateway is alone. */
  cluster: CountingNode | null
}

/** A node of a cluster, where each counts what it has spent itself. */
export type CountingNode = Pick<ClusterFace, 'name' | 'records' | 'status' | 'reportSpent'>

/**
 * A budget that is added in the middle of a day or month counts what that day or month has cost already, as its records say:
 * it is a budget of the month, and not of what is left of it. Requests in progress at that moment are not counted.
 */
export async function backdateBudgets(parts: BudgetParts, before: Published, after: Published): Promise<void> {
  const added = findAddedBudgets(before, after)
  if (added.length === 0) return
  const { store, counters, log, cluster } = parts
  try {
    // What has ended by now is in the records.
    await store.ingest()
    const missing = await findMissing(parts, added, after.configuration)
    if (missing.length === 0) return
    await store.spend.add(missing.map(({ counter, period, amount }): BookedAmount => [counter, period.name, amount]))
    for (const { counter, period, amount } of missing) counters.addUsed([counter, period.name, amount])
    cluster?.reportSpent(missing)
  } catch (error) {
    log.error('a budget that was added counts only what is spent from now on', { reason: String(error) })
  }
}

/** What the records of each budget come to beyond what it has counted. */
async function findMissing(
  { store, counters, cluster }: BudgetParts,
  added: readonly Limit[],
  configuration: ConfigurationSnapshot,
): Promise<(SpentBudget & { amount: number })[]> {
  const now = Date.now()
  const read = readShares(store, cluster, new Date(now).toISOString())
  const known = new Map<string, Promise<CountedRows>>()
  const missing: (SpentBudget & { amount: number })[] = []
  for (const limit of added) {
    const period = findPeriod(limit.period ?? 'day', configuration.timeZone, now)
    const filter = filterOf(limit, configuration, period)
    const name = JSON.stringify(filter)
    const rows = known.get(name) ?? read(filter)
    known.set(name, rows)
    const { own, all, members } = await rows
    const departed = sumOf(limit, all) - sumOf(limit, members)
    // Read after the records, so that what ends meanwhile counts at most once.
    const amount = sumOf(limit, own) + Math.max(0, departed) - counters.spentHere(limit.counter, period.name)
    if (amount > 0) missing.push({ counter: limit.counter, period, amount })
  }
  return missing
}

/** Records by key: of this node, and where it counts for nodes that are gone, of all and of those that are still there. */
interface CountedRows {
  own: UsageRow[]
  all: UsageRow[]
  members: UsageRow[]
}

/**
 * Where nodes share their records, each counts its own, and that of the first name also those of nodes that have left: so all is
 * counted once, and by whoever comes back with records of its own too.
 */
function readShares(store: StoreClient, cluster: CountingNode | null, now: string) {
  const usage = (filter: RecordFilter) => store.records.usage(filter, now)
  if (cluster?.records !== 'shared')
    return async (filter: RecordFilter) => ({ own: await usage(filter), all: [], members: [] })
  const names = cluster.status().then(({ nodes }) => nodes.map(({ name }) => name))
  return async (filter: RecordFilter): Promise<CountedRows> => {
    const others = (await names).filter((name) => name !== cluster.name)
    const countsDeparted = others.every((name) => name > cluster.name)
    // First of all, so that what comes in meanwhile is not taken for that of a node that is gone.
    const all = countsDeparted ? await usage(filter) : []
    const own = await usage({ ...filter, node: cluster.name })
    const rest = countsDeparted ? await Promise.all(others.map((node) => usage({ ...filter, node }))) : []
    return { own, all, members: countsDeparted ? [...own, ...rest.flat()] : [] }
  }
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
  const amountOf = ({ usd, tokens, cached }: UsageRow['whole']) =>
    kind === 'usd' ? nanoOfUsd(usd ?? 0) : tokens - cached
  return own.reduce((sum, { whole }) => sum + amountOf(whole), 0)
}
