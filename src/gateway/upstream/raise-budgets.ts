import { loadOnce } from '../../core/load-once.ts'
import type { Limit } from '../../core/policy-limits.ts'
import type { BudgetNeed, BudgetRefusal, RaisedBudgets } from '../../policy/limits/budget-counters.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import type { Call } from '../request/call.ts'

export const sharing = loadOnce(() => import('./hold-shared.ts'))

/** What does not fit is asked for meanwhile: the next event or turn may find it. */
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

/** What was lowered, raised or granted while it runs limits how it grows. */
function followPolicies(call: Call, hold: LimitHold): void {
  followLimits(hold, call.policy.limits)
}

/** `limits`: as they are by now. One that no longer applies limits nothing more. */
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
