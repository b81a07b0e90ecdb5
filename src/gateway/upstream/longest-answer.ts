import { limitAt } from '../../core/policies/policy-limits.ts'
import { lengthName } from '../../lanes/additional-models.ts'
import type { LongestAnswer, RefusalFacts } from '../../policy/limits/budget-faults.ts'
import { dearestOf, needOf } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { anyLength, type BudgetState, findSpent, longestAnswer } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'
import { expectEach, type Priced } from './expect-target.ts'

/** Budgets that refuse: those of a key's policies, or those of an account. */
type RefusingBudgets = Pick<LimitHold, 'limits' | 'user'> & { forAccount?: boolean }

/** Tells the client of a refused request how long an answer its budgets would allow. */
export function longestFitting(call: Call, hold: RefusingBudgets, target: Priced): LongestAnswer | null {
  const { gateway, match, inspection, body } = call
  const { outputLimits } = match.endpoint
  if (outputLimits === undefined) return null
  const { providers } = gateway.model.configuration
  const budgets = budgetsNow(call, hold)
  const expected = expectFor(call, hold, target, anyLength).flatMap((each) => ('code' in each ? [] : each))
  const known = providers.get(target.provider.id)?.kind.outputLimit
  const written = outputLimits.names.find((name) => name === known) ?? outputLimits.names[0] ?? ''
  const name = lengthName(inspection, body.bytes, outputLimits, written)
  const adds = inspection.outputLimit === null ? name : null
  return { name, most: longestAnswer(budgets, expected, { answers: inspection.answers, adds }) }
}

/** The first budget without room for even a one-token answer; null: there is none. */
export function spentFor(call: Call, hold: RefusingBudgets, target: Priced): RefusalFacts | null {
  const shortest = dearestOf(expectFor(call, hold, target, call.inspection.answers))
  return 'code' in shortest ? null : findSpent(budgetsNow(call, hold), needOf(shortest, shortest.output))
}

const expectFor = (call: Call, { forAccount = false }: RefusingBudgets, target: Priced, outputCap: number) =>
  expectEach(call, target, { forAccount, outputCap })

/** The state of the budgets that refuse rather than warn. */
export function budgetsNow({ gateway, arrival }: Call, { limits, user }: RefusingBudgets): BudgetState[] {
  const { timeZone } = gateway.model.configuration
  const now = arrival.receivedAt
  const refusing = limits.filter(({ period, warns }) => period !== null && !warns)
  return refusing.map((limit) => {
    return { limit, most: limitAt(limit, now), use: gateway.limits.budgetUse(limit, { timeZone, now }, user) }
  })
}
