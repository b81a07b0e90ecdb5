import type { Fault } from '../../core/errors.ts'
import { scanObject, shortValue } from '../../core/json-scan.ts'
import { readValue } from '../../core/json-value.ts'
import { amountOf, type BudgetNeed } from '../../policy/limits/budget-counters.ts'
import { unboundedAnswer } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { anyLength, type BudgetState, findSpent } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'
import { refuse, refusedUncounted } from '../upstream/hold-budgets.ts'
import { budgetsNow } from '../upstream/longest-answer.ts'

interface Unlimited {
  /** What all answers come to if each that has no limit is so long. */
  needFor(length: number): BudgetNeed | null
  /** False: a run of an eval, or a grader. */
  isBatch: boolean
}

/** Refuses a batch, or a run of an eval, some of whose answers have no limit that anybody knows, and says which would fit. */
export function refuseUnlimited(call: Call, hold: LimitHold, { needFor, isBatch }: Unlimited): Fault {
  const [none, shortest, longest] = [needFor(0), needFor(1), needFor(anyLength)]
  const budgets = budgetsNow(call, hold)
  const spent = shortest === null ? null : findSpent(budgets, shortest)
  if (spent !== null) return refuse(call, spent, null)
  const fits = none === null || longest === null ? [] : budgets.map((budget) => longestIn(budget, none, longest))
  const most = Math.min(...fits)
  const where = isBatch ? 'each request' : 'sampling_params'
  const wrong = unboundedAnswer(
    { name: nameFor(call, isBatch), most: most >= 1 && most < anyLength ? most : null },
    where,
  )
  call.trace.policySignals.push(refusedUncounted(wrong))
  return wrong
}

/** What they come to grows evenly with their length; holds are rounded up, and the member that is added is read as well. */
function longestIn({ limit, most, use }: BudgetState, none: BudgetNeed, longest: BudgetNeed): number {
  const [least, all] = [Number(amountOf(limit, none)), Number(amountOf(limit, longest))]
  const each = (all - least) / anyLength
  return each > 0 ? Math.floor((most - use.used - use.held - least) / each) : anyLength
}

/** As the requests have it. */
function nameFor(call: Call, isBatch: boolean): string {
  const { lane, body } = call
  if (lane.name === 'gemini') return 'generationConfig.maxOutputTokens'
  if (!isBatch) return 'max_completion_tokens'
  const scan = scanObject(body.bytes, ['endpoint'])
  const asked = scan.ok ? scan.members.map((member) => readValue(body.bytes, member, shortValue)) : []
  return asked.includes('/v1/responses') ? 'max_output_tokens' : 'max_tokens'
}
