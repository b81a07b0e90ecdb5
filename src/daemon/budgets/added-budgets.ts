import { isDeepStrictEqual } from 'node:util'
import { type Limit, placeOfCounter } from '../../core/policies/policy-limits.ts'
import { accountLimits } from '../../policy/limits/account-limits.ts'
import { placeLimits } from '../../policy/limits/place-limits.ts'
import type { ConfigurationSnapshot, SnapshotKey, SnapshotPolicy } from '../../store/configuration/snapshot.ts'

/** What all threads have at one moment. */
export interface Published {
  configuration: ConfigurationSnapshot
  keys: readonly SnapshotKey[]
}

/**
 * The budgets that apply since a change, and where they applied before: a policy that was added, attached or given a budget. In another
 * time zone all of them, since their days and months begin at another hour.
 */
export function findAddedBudgets(earlier: Published, after: Published): Limit[] {
  const isMoved = earlier.configuration.timeZone !== after.configuration.timeZone
  const none = { configuration: { ...earlier.configuration, policies: [], providers: [] }, keys: [] }
  const before = isMoved ? none : earlier
  const found = [...addedByPolicies(before, after), ...addedToAccounts(before, after)]
  // Of end users nobody knows who had asked what before.
  return found.filter(({ period, perUser }) => period !== null && !perUser)
}

function addedByPolicies(before: Published, after: Published): Limit[] {
  const moved = movedKeys(before, after)
  return after.configuration.policies.flatMap((policy) => {
    const old = before.configuration.policies.find(({ id }) => id === policy.id)
    const same = old !== undefined && isDeepStrictEqual(limitsIn(old), limitsIn(policy))
    const keys = same ? moved.filter(({ policyId }) => policyId === policy.id) : after.keys
    // Keys that were made since have spent nothing.
    if (same && keys.length === 0) return []
    const places = { ...after.configuration, keys }
    const known = new Set(old === undefined || same ? [] : countersOf(old, before))
    const placed = placeLimits(policy, places, Number.POSITIVE_INFINITY).map(({ limit }) => limit)
    return placed.filter(
      ({ counter }) => !known.has(counter) && (!same || keys.some(({ id }) => id === placeOfCounter(counter))),
    )
  })
}

const countersOf = (policy: SnapshotPolicy, { configuration, keys }: Published) =>
  placeLimits(policy, { ...configuration, keys }, Number.POSITIVE_INFINITY).map(({ limit }) => limit.counter)

/** What of a policy decides which budgets there are. */
function limitsIn(policy: SnapshotPolicy) {
  const { budgetUsdDay, budgetUsdMonth, budgetTokensDay, budgetTokensMonth, per = null, attachedTo } = policy
  const has = [budgetUsdDay, budgetUsdMonth, budgetTokensDay, budgetTokensMonth].map((value) => value != null)
  return { has, per, attachedTo }
}

/** Keys that name another policy than before. */
function movedKeys(before: Published, { keys }: Published): readonly SnapshotKey[] {
  if (before.keys === keys) return []
  const policies = new Map(before.keys.map(({ id, policyId }) => [id, policyId]))
  return keys.filter(({ id, policyId }) => policyId !== null && policies.has(id) && policies.get(id) !== policyId)
}

function addedToAccounts(before: Published, after: Published): Limit[] {
  return after.configuration.providers.flatMap((provider) => {
    const old = before.configuration.providers.find(({ id }) => id === provider.id)
    const known = new Set((old === undefined ? null : accountLimits(old))?.map(({ counter }) => counter))
    return (accountLimits(provider) ?? []).filter(({ counter }) => !known.has(counter))
  })
}
