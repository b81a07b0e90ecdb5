import type { BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import { type Expected, holdOf } from '../../policy/limits/expected-use.ts'
import type { Call } from '../request/call.ts'

/** The least that each answer is cut down to: of some endpoints a smaller limit is invalid, and nobody is served by it. */
const leastAnswer = 16

/**
 * The output tokens that a budget whose policy caps (`--cap-output`) has left for a call, where the call wants more of it. Null: it is
 * refused. A stream without a limit needs none: it gets what there is, a piece at a time.
 */
export function roomToCap(call: Call, refusal: BudgetRefusal, expected: Expected): number | null {
  const { limit, why } = refusal
  if (why !== 'spent' || limit.caps !== true || expected.grows) return null
  if (call.match.endpoint.outputLimits === undefined) return null
  const fits = fitting(refusal, expected)
  const least = leastAnswer * call.inspection.answers
  return fits === null || fits < least || fits >= expected.output ? null : fits
}

/** Says so on the record. */
export function capToRoom(call: Call, { limit }: BudgetRefusal, most: number): void {
  const asked = call.outputCap ?? call.inspection.outputLimit
  const asks = asked === null ? 'The request sets no limit for its answer' : `The request may write ${asked} tokens`
  const text = `${asks}; the policy ${limit.policy} caps it at ${most}, for which its budget has room.`
  call.outputCap = most
  call.trace.policySignals.push({
    rule: 'output',
    verdict: 'note',
    text,
    data: { policy: limit.policy, asked, limit: most },
  })
}

/** The most output tokens whose hold fits into what is not used. */
export function fitting({ limit, most, use }: BudgetRefusal, { price, input, output }: Expected): number | null {
  const room = most - use.used
  if (output === 0) return null
  if (limit.kind === 'tokens') return room - input
  if (price === null) return null
  const without = Number(holdOf(price, input, 0))
  const each = (Number(holdOf(price, input, output)) - without) / output
  return each <= 0 ? null : Math.floor((room - without) / each)
}
