import type { Fault } from '../../../core/errors.ts'
import type { Limit } from '../../../core/policy-limits.ts'
import { accountLimits } from '../../../policy/limits/account-limits.ts'
import { refusedByBudget } from '../../../policy/limits/budget-faults.ts'
import { dearestOf, type Expected, noAccountPrice, unboundedAnswer } from '../../../policy/limits/expected-use.ts'
import { refusedByLimit } from '../../../policy/limits/limit-faults.ts'
import type { Candidate, Plan } from '../../../routing/plan.ts'
import type { AdminContext } from '../context.ts'
import {
  type CountedCall,
  expectLength,
  findBudgetRefusal,
  findMinuteRefusal,
  namesAt,
  priceAt,
} from './count-request.ts'

/**
 * Of the targets of a plan, those whose accounts have no room for the request at this moment: the data plane skips them when their
 * turn comes (`account-holds.ts`).
 */
export function refusedByAccounts(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  { candidates }: Pick<Plan, 'candidates'>,
  asked: CountedCall,
  now = Date.now(),
): ReadonlyMap<Candidate, Fault> {
  const refused = new Map<Candidate, Fault>()
  for (const candidate of candidates) {
    const limits = accountLimits(candidate.provider)
    const reason = limits === null ? null : refusalOf(context, candidate, { limits, asked, now })
    if (reason !== null) refused.set(candidate, reason)
  }
  return refused
}

interface AccountQuestion {
  limits: readonly Limit[]
  asked: CountedCall
  now: number
}

function refusalOf(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  candidate: Candidate,
  { limits, asked, now }: AccountQuestion,
): Fault | null {
  const counted = limits.some(({ kind }) => kind === 'usd')
  const expected = counted ? expect(context, candidate, asked) : null
  if (expected !== null && 'code' in expected) return expected
  for (const limit of limits) {
    const refused =
      limit.period === null
        ? findMinuteRefusal(context, limit, asked, now)
        : expected === null
          ? null
          : findBudgetRefusal(context, [limit], expected, asked, now)
    if (refused === null) continue
    return 'need' in refused ? refusedByBudget(refused, null).fault : refusedByLimit(refused).fault
  }
  return null
}

/** As the data plane expects it of a call that asks a model: of those that may answer, the dearest. */
function expect(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  candidate: Candidate,
  asked: CountedCall,
): Expected | Fault {
  const models = namesAt(candidate, asked)
  return dearestOf(models.map((upstreamModel) => expectModel(context, { ...candidate, upstreamModel }, asked)))
}

function expectModel(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  candidate: Candidate,
  asked: CountedCall,
): Expected | Fault {
  const { price, isFree } = priceAt(context, candidate, asked)
  if (price === null && !isFree && asked.usesTokens) return noAccountPrice(candidate.upstreamModel)
  const answer = expectLength(asked, price, isFree)
  return answer === null ? unboundedAnswer() : { price, input: asked.input, ...answer }
}
