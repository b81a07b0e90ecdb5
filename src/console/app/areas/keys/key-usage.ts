import { useQuery } from '@tanstack/react-query'
import type { AdminClient } from '../../../../admin/client-link.ts'
import { orpc } from '../../client/admin.ts'

export type KeyUsage = Awaited<ReturnType<AdminClient['keys']['usage']>>[number]
export type UsedLimit = KeyUsage['limits'][number] | KeyUsage['periods'][number]

/** Budgets first. */
export function allLimits(usage: Pick<KeyUsage, 'limits' | 'periods'> | null): readonly UsedLimit[] {
  return usage === null ? [] : [...usage.periods, ...usage.limits]
}

const freshMs = 15_000

/** What is used of each policy's limits, by the policy's name. */
export function usePolicyUsage(): ReadonlyMap<string, readonly UsedLimit[]> {
  const { data } = useQuery({ ...orpc.policies.usage.queryOptions({ input: {} }), refetchInterval: freshMs })
  return new Map((data ?? []).map((usage) => [usage.policy, allLimits(usage)]))
}

/** What every key of the scope has used, by its id. */
export function useKeyUsage(input: {
  project?: string
  environment?: string
  all: boolean
}): ReadonlyMap<string, KeyUsage> {
  const { data } = useQuery({ ...orpc.keys.usage.queryOptions({ input }), refetchInterval: freshMs })
  return new Map((data ?? []).map((usage) => [usage.key.id, usage]))
}

/** Of one key, with its month; null while it is not known. */
export function useUsageOf(key: { id: string; project: string; environment: string }): KeyUsage | null {
  const input = { key: key.id, project: key.project, environment: key.environment }
  const { data } = useQuery({ ...orpc.keys.usage.queryOptions({ input }), refetchInterval: freshMs })
  return data?.[0] ?? null
}
