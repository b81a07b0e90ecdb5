import type { Limit } from '../core/policy-limits.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { windowMs } from '../policy/limits/window.ts'

/** What is used of a limit at this moment, as the threads of the data plane count it. */
export function limitUsage(counters: LimitCounters, limit: Limit, timeZone: string) {
  const now = Date.now()
  if (limit.period !== null) return counters.budgetUse(limit, { timeZone, now })
  const used = counters.used(limit)
  return { used, held: 0, holders: 0, resetsAt: limit.kind !== 'concurrency' && used > 0 ? now + windowMs : null }
}
