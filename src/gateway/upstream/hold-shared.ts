import {
  allowanceWaitMs,
  type BudgetNeed,
  type BudgetRefusal,
  type Moment,
  type RaisedBudgets,
} from '../../policy/limits/budget-counters.ts'
import { type Expected, needOf, smallestIncrement } from '../../policy/limits/expected-use.ts'
import type { LimitCounters, LimitHold } from '../../policy/limits/limit-counters.ts'

/** Like `holdWhatFits`, for budgets that nodes share: asks the control plane for what this node does not have. */
export async function holdShared(
  limits: LimitCounters,
  hold: LimitHold,
  expected: Expected,
  moment: Moment,
): Promise<BudgetRefusal | null> {
  const asking = new Asking(limits)
  for (;;) {
    const refusal = await holdAsking(limits, hold, needOf(expected, expected.output), moment, asking)
    if (refusal === null || !expected.grows || expected.output / 2 < smallestIncrement) return refusal
    expected.output = Math.floor(expected.output / 2)
  }
}

export async function holdAsking(
  limits: LimitCounters,
  hold: LimitHold,
  need: BudgetNeed,
  moment: Moment,
  asking = new Asking(limits),
): Promise<BudgetRefusal | null> {
  for (;;) {
    const refusal = limits.holdBudgets(hold, need, moment)
    if (refusal === null || !(await asking.mayHelp(refusal))) return refusal
  }
}

export async function raiseShared(
  limits: LimitCounters,
  hold: LimitHold,
  need: BudgetNeed,
): Promise<RaisedBudgets | BudgetRefusal> {
  const asking = new Asking(limits)
  for (;;) {
    const raised = limits.raiseBudgets(hold, need, Date.now())
    if (!('why' in raised) || !(await asking.mayHelp(raised))) return raised
  }
}

/** Limits how long a request waits for allowances: it asks again as long as that can help and time is left. */
class Asking {
  readonly #limits: LimitCounters
  readonly #until = performance.now() + allowanceWaitMs

  constructor(limits: LimitCounters) {
    this.#limits = limits
  }

  async mayHelp({ want }: BudgetRefusal): Promise<boolean> {
    const left = this.#until - performance.now()
    return want !== null && left > 0 && (await this.#limits.askAllowance(want, left))
  }
}
