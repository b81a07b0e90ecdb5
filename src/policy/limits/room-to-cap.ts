import type { Limit } from '../../core/policy-limits.ts'
import type { Signal } from '../../core/record.ts'
import type { BudgetRefusal } from './budget-counters.ts'
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
export function fitting({ limit, most, use }: Omit<Refused, 'why'>, { price, input, output }: Expected): number | null {
  const room = most - use.used
  if (output === 0) return null
  if (limit.kind === 'tokens') return room - input
  if (price === null) return null
  const without = Number(holdOf(price, input, 0))
  const each = (Number(holdOf(price, input, output)) - without) / output
  return each <= 0 ? null : Math.floor((room - without) / each)
}
