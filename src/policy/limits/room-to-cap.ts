import { bytesPerToken } from '../../core/estimated-tokens.ts'
import type { Limit } from '../../core/policy-limits.ts'
import type { Signal } from '../../core/record.ts'
import { amountOf, type BudgetNeed, type BudgetRefusal } from './budget-counters.ts'
import type { RefusalFacts } from './budget-faults.ts'
import { type Expected, holdOf } from './expected-use.ts'

/** The least that each answer is cut down to: of some endpoints a smaller limit is invalid, and nobody is served by it. */
const leastAnswer = 16

/** What of a refusal decides how much may still be written. */
type Refused = Pick<BudgetRefusal, 'limit' | 'most' | 'why'> & { use: Pick<BudgetRefusal['use'], 'used'> }

/**
 * The output tokens that a budget whose policy caps (`--cap-output`) has left for a call with so many answers, where the call wants more
 * of it. Null: it is refused. A stream without a limit needs none: it gets what there is, a piece at a time.
 */
export function roomToCap(refusal: Refused, expected: Expected, answers: number): number | null {
  const { limit, why } = refusal
  if (why !== 'spent' || limit.caps !== true || expected.grows) return null
  const fits = fitting(refusal, expected)
  return fits === null || fits < leastAnswer * answers || fits >= expected.output ? null : fits
}

/** Where neither the client nor the model says how long an answer may get: any model can write so much. */
const unknownAnswer = 4096

/**
 * What an answer of unknown length is capped at where each budget that may refuse it caps, and the first of them; null: it is refused.
 */
export function capUnknown(limits: readonly Limit[], answers: number): { limit: Limit; most: number } | null {
  const refusing = limits.filter(({ period, warns }) => period !== null && !warns)
  const [limit] = refusing
  if (limit === undefined || refusing.some(({ caps }) => caps !== true)) return null
  return { limit, most: unknownAnswer * answers }
}

/** Says so on the record. `asked`: by the client. */
export function cappedToRoom({ policy }: { policy: string | null }, asked: number | null, most: number): Signal {
  const asks = asked === null ? 'The request sets no limit for its answer' : `The request may write ${asked} tokens`
  const text = `${asks}; the policy ${policy} caps it at ${most}, for which its budget has room.`
  return { rule: 'output', verdict: 'note', text, data: { policy, asked, limit: most } }
}

/** The most output tokens whose hold fits into what is not used. */
function fitting({ limit, most, use }: Omit<Refused, 'why'>, { price, input, output }: Expected): number | null {
  const room = most - use.used
  if (output === 0) return null
  if (limit.kind === 'tokens') return room - input
  if (price === null) return null
  const without = Number(holdOf(price, input, 0))
  const each = (Number(holdOf(price, input, output)) - without) / output
  if (each <= 0) return null
  const fits = Math.floor((room - without) / each)
  // Holds are rounded up.
  return fits > 0 && Number(holdOf(price, input, fits)) > room ? fits - 1 : fits
}

/** What a budget has at this moment. */
export interface BudgetState {
  limit: Limit
  /** With what is granted on top of it. */
  most: number
  use: { used: number; held: number; holders: number; resetsAt: number | null }
}

/** The first of the budgets that has no room for the shortest answer either, whoever else holds some of it. */
export function findSpent(budgets: readonly BudgetState[], shortest: BudgetNeed): RefusalFacts | null {
  for (const { limit, most, use } of budgets) {
    const need = amountOf(limit, shortest)
    if (most === 0 || Number(need) > most - use.used)
      return { limit, period: { end: use.resetsAt ?? 0 }, need, most, use, why: 'spent' }
  }
  return null
}

/** Quotes, braces, and a number of seven digits. */
const besideName = 16

/** Far longer than any answer. */
export const anyLength = 1_000_000

/**
 * How long each of so many answers may be for all of the budgets to have room for the call at this moment. Null: they have none, or do
 * not go by its length. `expected`: of each model that may answer, with `anyLength`. `adds`: the member that the client would add.
 */
export function longestAnswer(
  budgets: readonly BudgetState[],
  expected: readonly Expected[],
  { answers, adds }: { answers: number; adds: string | null },
): number | null {
  const more = adds === null ? 0 : Math.ceil((adds.length + besideName) / bytesPerToken)
  let least = Number.POSITIVE_INFINITY
  for (const { use, ...budget } of budgets)
    for (const each of expected) {
      const longer = { ...each, input: each.input + more }
      const fits = fitting({ ...budget, use: { used: use.used + use.held } }, longer)
      if (fits !== null && fits < each.output) least = Math.min(least, fits)
    }
  const each = Math.floor(least / answers)
  return each >= 1 && Number.isFinite(each) ? each : null
}
