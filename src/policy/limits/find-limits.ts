import { nanoOfUsd } from '../../core/cost/money.ts'
import { countedAmount, type Limit, type LimitRules, nameCounter } from '../../core/policies/policy-limits.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'

/** Where a policy applies to a key; from narrow to wide. */
export type LimitPlace = 'key' | 'environment' | 'project' | 'workspace'

export interface PlacedPolicy {
  id: string
  name: string
  place: LimitPlace
  rules: LimitRules
}

/** The rules that limit amounts, with what each counts, in the order in which they are taken. */
const rows = [
  { rule: 'concurrency', kind: 'concurrency', period: null },
  { rule: 'rpm', kind: 'requests', period: null },
  { rule: 'tpm', kind: 'tokens', period: null },
  { rule: 'budgetUsdDay', kind: 'usd', period: 'day' },
  { rule: 'budgetUsdMonth', kind: 'usd', period: 'month' },
  { rule: 'budgetTokensDay', kind: 'tokens', period: 'day' },
  { rule: 'budgetTokensMonth', kind: 'tokens', period: 'month' },
] as const satisfies readonly (Pick<Limit, 'kind' | 'period'> & { rule: keyof LimitRules })[]

const places: readonly LimitPlace[] = ['key', 'environment', 'project', 'workspace']

/**
 * The limits of a key, from narrow to wide. Null: there are none. In this order a refusal that is due to another request's short-lived hold
 * (released again because a wider counter refused it) is rarely wrong: the wider counter would nearly always refuse this one, too.
 */
export function findLimits(policies: readonly PlacedPolicy[], key: SnapshotKey): readonly Limit[] | null {
  const limits = new Map<string, Limit>()
  for (const place of places)
    for (const policy of policies) {
      if (policy.place !== place) continue
      // With `per: key` a policy that is attached twice has only one counter.
      for (const limit of limitsOf(policy, key)) limits.set(limit.counter, limit)
    }
  return limits.size === 0 ? null : [...limits.values()]
}

function limitsOf({ id, name, place, rules }: PlacedPolicy, key: SnapshotKey): Limit[] {
  const at = rules.per === 'key' ? 'key' : place
  return rows.flatMap(({ rule, kind, period }) => {
    const value = rules[rule]
    if (value === null || value === undefined) return []
    const { id: place, scope } = describePlace(at, key)
    return {
      counter: nameCounter(id, place, kind, period),
      policy: name,
      scope,
      kind,
      period,
      limit: countedAmount(kind, value),
      warns: period !== null && rules.onBudget === 'warn',
      perUser: rules.per === 'user',
      ...(period !== null && rules.capOutput === true ? { caps: true } : {}),
      ...(kind === 'usd' ? grantsOf(rules) : {}),
    }
  })
}

function grantsOf({ grants = [] }: LimitRules): Pick<Limit, 'grants'> {
  if (grants.length === 0) return {}
  return {
    grants: grants.map(({ usd, until }) => ({ amount: nanoOfUsd(usd), until: Date.parse(until) })),
  }
}

function describePlace(place: LimitPlace, key: SnapshotKey): { id: string; scope: string } {
  const { project, environment, name } = key
  switch (place) {
    case 'key':
      return { id: key.id, scope: `key:${project}/${environment}/${name}` }
    case 'environment':
      return { id: key.environmentId, scope: `environment:${project}/${environment}` }
    case 'project':
      return { id: key.projectId, scope: `project:${project}` }
    case 'workspace':
      return { id: 'workspace', scope: 'workspace' }
  }
}
