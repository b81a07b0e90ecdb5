import { isoTime } from '../../../core/text/flat-text.ts'
import { nextTurn } from '../../../core/threads/slices.ts'
import { compilePolicies, type EffectivePolicy, effectivePolicy } from '../../../policy/admit.ts'
import { periodAt } from '../../../policy/calendar.ts'
import type { Key, UsageSum } from '../../../store/api.ts'
import type { AdminContext } from '../context.ts'
import { findCalledKey, findListScope } from '../find.ts'
import { loadNames } from '../names.ts'
import { showHours, showLimits } from '../policies/limit-usage.ts'

interface UsageInput {
  key?: string | undefined
  project?: string | undefined
  environment?: string | undefined
  all: boolean
}

/**
 * Sums are from the records, which are what requests are charged by; what is used of limits is from the counters that all threads
 * share.
 */
export async function showKeyUsage(context: AdminContext, input: UsageInput) {
  const now = Date.now()
  const keys = await chooseKeys(context, input)
  const [one] = input.key === undefined ? [] : keys
  await context.runtime.ingest()
  const names = await loadNames(context)
  const { configuration } = context.runtime.snapshot()
  const { timeZone } = configuration
  const [day, month] = [periodAt('day', timeZone, now), periodAt('month', timeZone, now)]
  const today = isoTime(day.start)
  const filter = one === undefined ? { since: today } : { since: isoTime(month.start), key: one.id }
  const rows = await context.store.records.usage({ ...filter, limit: 1 }, today)
  const sums = new Map(rows.map((row) => [row.id, row]))
  const effective = await findEffectivePolicies(context, keys)
  const byId = new Map(configuration.policies.map((policy) => [policy.id, policy]))
  const policiesOf = (key: Key) => (effective.get(key.id)?.policies ?? []).flatMap(({ id }) => byId.get(id) ?? [])
  return keys.map((key) => ({
    key: { id: key.id, name: key.name },
    project: names.project(key.projectId),
    environment: names.environment(key.environmentId),
    ...showLimits(context.runtime, effective.get(key.id)?.limits ?? []),
    hours: showHours(configuration, policiesOf(key), now),
    today: showSum(sums.get(key.id)?.lately, isoTime(day.end)),
    month: one === undefined ? null : showSum(sums.get(key.id)?.whole, isoTime(month.end)),
    last_used_at: key.lastUsedAt,
  }))
}

/** So many are looked at in one turn of the event loop. */
const keysPerTurn = 500

/** By key; empty where there are no policies. */
async function findEffectivePolicies(
  { runtime }: AdminContext,
  keys: readonly Key[],
): Promise<Map<string, EffectivePolicy>> {
  const found = new Map<string, EffectivePolicy>()
  const snapshot = runtime.snapshot()
  const compiled = compilePolicies(snapshot.configuration)
  const wanted = new Set(keys.map(({ id }) => id))
  let looked = 0
  for (const key of snapshot.configuration.policies.length === 0 ? [] : snapshot.keys) {
    if (!wanted.has(key.id)) continue
    found.set(key.id, effectivePolicy(compiled, key))
    if (++looked % keysPerTurn === 0) await nextTurn()
  }
  return found
}

async function chooseKeys(context: AdminContext, input: UsageInput): Promise<Key[]> {
  if (input.key !== undefined) {
    const { key, project = 'default', environment = 'production' } = input
    return [await findCalledKey(context, { key, project, environment })]
  }
  const scope = await findListScope(context, input)
  const keys = await context.store.keys.list(scope.projectId, null)
  return keys.filter((key) => key.revokedAt === null && scope.includes(key))
}

function showSum(sum: UsageSum | undefined, resetsAt: string) {
  const { requests, tokens, usd } = sum ?? { requests: 0, tokens: 0, usd: null }
  return { requests, tokens, usd, resets_at: resetsAt }
}
