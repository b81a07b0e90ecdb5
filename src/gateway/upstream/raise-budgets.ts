import type { Limit } from '../../core/policies/policy-limits.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import type { BudgetNeed, BudgetRefusal, RaisedBudgets } from '../../policy/limits/budget-counters.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import type { Call } from '../request/call.ts'

export const sharing = loadOnce(() => import('./hold-shared.ts'))

/** Raises a hold without waiting. If it does not fit, more is requested in the background for the next event or turn. */
export function raise(call: Call, hold: LimitHold, need: BudgetNeed): RaisedBudgets | BudgetRefusal {
  followPolicies(call, hold)
  const raised = call.gateway.limits.raiseBudgets(hold, need, Date.now())
  askLater(call, 'why' in raised ? raised : null)
  return raised
}

export async function raiseAsking(call: Call, hold: LimitHold, need: BudgetNeed) {
  const { gateway } = call
  followPolicies(call, hold)
  return await (await sharing()).raiseShared(gateway.limits, hold, need)
}

/** Applies changes of the policies to a request in progress: a limit that was lowered, raised or granted more bounds how the hold grows. */
function followPolicies(call: Call, hold: LimitHold): void {
  followLimits(hold, call.policy.limits)
}

/** `limits`: the present ones. A limit that no longer applies only warns. */
export function followLimits({ limits: before, budgets }: LimitHold, limits: readonly Limit[] | null): void {
  if (limits === before) return
  for (const hold of budgets) {
    const { counter } = hold.limit
    hold.limit = limits?.find((limit) => limit.counter === counter) ?? { ...hold.limit, warns: true }
  }
}

export function askLater({ gateway }: Call, refusal: BudgetRefusal | null): void {
  if (refusal !== null && refusal.want !== null) void gateway.limits.askAllowance(refusal.want)
}
