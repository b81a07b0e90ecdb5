import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { Signal } from '../../core/record.ts'
import { amountOf, type BudgetNeed, type BudgetRefusal } from './budget-counters.ts'
import type { RefusalFacts } from './budget-faults.ts'
import { type Expected, holdOf } from './expected-use.ts'

/** The smallest cap: some endpoints reject smaller limits, and nobody could use such an answer. */
const leastAnswer = 16

/** The part of a refusal that determines how much may still be written. */
type Refused = Pick<BudgetRefusal, 'limit' | 'most' | 'why'> & { use: Pick<BudgetRefusal['use'], 'used'> }

/**
 * The output tokens that a capping budget (`--cap-output`) has left for a call with several answers, if the call wants more. Null: the call
 * is rejected. A growing stream needs no cap: it holds what is available, piece by piece.
 */
export function roomToCap(refusal: Refused, expected: Expected, answers: number): number | null {
  const { limit, why } = refusal
  if (why !== 'spent' || limit.caps !== true || expected.grows) return null
  const fits = fitting(refusal, expected)
  return fits === null || fits < leastAnswer * answers || fits >= expected.output ? null : fits
}

/** The cap if neither the client nor the model limits an answer: any model can write this much. */
const unknownAnswer = 4096

/**
 * The cap for an answer of unknown length, if every budget that may refuse it caps, and the first of those budgets; null: the call is
 * rejected.
 */
export function capUnknown(limits: readonly Limit[], answers: number): { limit: Limit; most: number } | null {
  const refusing = limits.filter(({ period, warns }) => period !== null && !warns)
  const [limit] = refusing
  if (limit === undefined || refusing.some(({ caps }) => caps !== true)) return null
  return { limit, most: unknownAnswer * answers }
}

/** The note on the record. `asked`: the client's own limit. */
export function cappedToRoom({ policy }: { policy: string | null }, asked: number | null, most: number): Signal {
  const asks = asked === null ? 'The request sets no limit for its answer' : `The request may write ${asked} tokens`
  const text = `${asks}; the policy ${policy} caps it at ${most}, for which its budget has room.`
  return { rule: 'output', verdict: 'note', text, data: { policy, asked, limit: most } }
}

/** The most output tokens whose hold fits into what is unused. */
function fitting(
  { limit, most, use }: Omit<Refused, 'why'>,
  { price, input, output, beside = nothing }: Expected,
): number | null {
  const room = most - use.used
  if (output === 0) return null
  if (limit.kind === 'tokens') return room - input - beside.tokens
  if (price === null) return null
  const held = (length: number) => Number(holdOf(price, input, length) + beside.usd)
  const without = held(0)
  const each = (held(output) - without) / output
  if (each <= 0) return null
  const fits = Math.floor((room - without) / each)
  // Holds are rounded up.
  return fits > 0 && held(fits) > room ? fits - 1 : fits
}

const nothing: BudgetNeed = { usd: 0n, tokens: 0 }

/** The state of a budget now. */
export interface BudgetState {
  limit: Limit
  /** The limit, including extra grants. */
  most: number
  use: { used: number; held: number; holders: number; resetsAt: number | null }
}

/** The first budget that has no room even for the shortest answer, regardless of what others hold. */
export function findSpent(budgets: readonly BudgetState[], shortest: BudgetNeed): RefusalFacts | null {
  for (const { limit, most, use } of budgets) {
    const need = amountOf(limit, shortest)
    if (most === 0 || Number(need) > most - use.used)
      return { limit, period: { end: use.resetsAt ?? 0 }, need, most, use, why: 'spent' }
  }
  return null
}

/** Quotes, a colon, and a number of seven digits. */
const besideName = 16

/** Far longer than any answer. */
export const anyLength = 1_000_000

/**
 * How long each answer may be so that all budgets have room for the call now. Null: they have none, or its length does not matter.
 * `expected`: for each model that may answer, with `anyLength`. `adds`: the member that the client would have to add.
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
