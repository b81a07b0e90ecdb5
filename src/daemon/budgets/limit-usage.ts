import type { UsedNow } from '../../admin/handlers/context.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { LimitCounters } from '../../policy/limits/limit-counters.ts'

/**
 * What is used of a limit at this moment, as the threads of the data plane count it. `missing`: of a limit a minute, how much must be
 * free again; without it, all. `user`: whose, where each end user has a counter; null: nobody is named, or it is not known.
 */
export function limitUsage(
  counters: LimitCounters,
  timeZone: string,
  limit: Limit,
  missing: number | null = null,
  user: string | null = null,
): UsedNow {
  const now = Date.now()
  const apart = counters.apart(limit)
  if (limit.period !== null) return { ...counters.budgetUse(limit, { timeZone, now }, user), apart }
  const used = counters.used(limit, user)
  const counts = limit.kind !== 'concurrency' && (!limit.perUser || user !== null) && used > 0
  const resetsAt = counts ? now + counters.freeIn(limit, missing ?? used, user) : null
  return {
    used,
    held: 0,
    holders: 0,
    resetsAt,
    apart,
    ...(counters.sharesWindows ? { includesHeld: true as const } : {}),
  }
}
