import type { UsedNow } from '../admin/handlers/context.ts'
import type { Limit } from '../core/policy-limits.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import { windowMs } from '../policy/limits/window.ts'

/** What is used of a limit at this moment, as the threads of the data plane count it. */
export function limitUsage(counters: LimitCounters, limit: Limit, timeZone: string): UsedNow {
  const now = Date.now()
  if (limit.period !== null) return counters.budgetUse(limit, { timeZone, now })
  const used = counters.used(limit)
  const resetsAt = limit.kind !== 'concurrency' && used > 0 ? now + windowMs : null
  return { used, held: 0, holders: 0, resetsAt, ...(counters.sharesWindows ? { includesHeld: true as const } : {}) }
}
