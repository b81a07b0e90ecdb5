import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import { allLimits, type KeyUsage, type UsedLimit } from './used-limits.ts'

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
