import type { Fault } from '../../../core/errors.ts'
import type { Limit } from '../../../core/policies/policy-limits.ts'
import { accountLimits } from '../../../policy/limits/account-limits.ts'
import { refusedByBudget } from '../../../policy/limits/budget-faults.ts'
import { dearestOf, type Expected, needOf, noPrice, unboundedAnswer } from '../../../policy/limits/expected-use.ts'
import { refusedByLimit } from '../../../policy/limits/limit-faults.ts'
import { anyLength, findSpent } from '../../../policy/limits/room-to-cap.ts'
import type { Candidate, Plan } from '../../../routing/plan.ts'
import type { AdminContext } from '../context.ts'
import {
  type CountedCall,
  expectLength,
  findBudgetRefusal,
  findMinuteRefusal,
  namesAt,
  priceAt,
  toolsOf,
} from './count-request.ts'
import { budgetsNow, longestOf } from './explain-limits.ts'

/**
 * Of the targets of a plan, those whose accounts have no room for the request at this moment: the data plane skips them when their
 * turn comes (`account-holds.ts`).
 */
export function refusedByAccounts(
  context: AccountContext,
  { candidates }: Pick<Plan, 'candidates'>,
  asked: CountedCall,
): ReadonlyMap<Candidate, Fault> {
  const refused = new Map<Candidate, Fault>()
  for (const candidate of candidates) {
    const limits = accountLimits(candidate.provider)
    const reason = limits === null ? null : refusalOf(context, candidate, { limits, asked })
    if (reason !== null) refused.set(candidate, reason)
  }
  return refused
}

type AccountContext = Pick<AdminContext, 'runtime' | 'kinds'>

const endless = Object.freeze(unboundedAnswer())

interface AccountQuestion {
  limits: readonly Limit[]
  asked: CountedCall
}

function refusalOf(context: AccountContext, candidate: Candidate, { limits, asked }: AccountQuestion): Fault | null {
  const counted = limits.some(({ kind }) => kind === 'usd')
  const expected = counted ? expect(context, candidate, asked) : null
  if (expected === endless) return refuseEndless(context, candidate, { limits, asked })
  if (expected !== null && 'code' in expected) return expected
  for (const limit of limits) {
    const refused =
      limit.period === null
        ? findMinuteRefusal(context, limit, asked)
        : expected === null
          ? null
          : findBudgetRefusal(context, [limit], expected, asked)
    if (refused === null) continue
    if (!('need' in refused)) return refusedByLimit(refused).fault
    const most = refused.why === 'spent' ? longest(context, candidate, { limits, asked }) : null
    return refusedByBudget(refused, most).fault
  }
  return null
}

function refuseEndless(context: AccountContext, candidate: Candidate, question: AccountQuestion): Fault {
  const { asked } = question
  const shortest = expect(context, candidate, { ...asked, room: asked.answers })
  const spent = 'code' in shortest ? null : findSpent(budgetsOf(context, question), needOf(shortest, shortest.output))
  return spent === null ? unboundedAnswer(longest(context, candidate, question)) : refusedByBudget(spent, null).fault
}

/** How long the account's budget would let its answer be. */
function longest(context: AccountContext, candidate: Candidate, question: AccountQuestion) {
  const expected = expectEach(context, candidate, { ...question.asked, room: anyLength })
  return longestOf(context, candidate, question.asked, { budgets: budgetsOf(context, question), expected })
}

const budgetsOf = (context: AccountContext, { limits, asked }: AccountQuestion) =>
  budgetsNow(
    context,
    limits.filter(({ period }) => period !== null),
    asked,
  )

/** As the data plane expects it of a call that asks a model: of those that may answer, the dearest. */
function expect(context: AccountContext, candidate: Candidate, asked: CountedCall): Expected | Fault {
  return dearestOf(expectEach(context, candidate, asked))
}

function expectEach(context: AccountContext, candidate: Candidate, asked: CountedCall) {
  const models = namesAt(candidate, asked)
  return models.map((upstreamModel) => expectModel(context, { ...candidate, upstreamModel }, asked))
}

function expectModel(context: AccountContext, candidate: Candidate, asked: CountedCall): Expected | Fault {
  const { price, isFree } = priceAt(context, candidate, asked)
  if (price === null && !isFree && asked.usesTokens) return noPrice(candidate.upstreamModel, true)
  const answer = expectLength(asked, price, isFree)
  if (answer === null) return endless
  return { price, input: asked.input, ...answer, beside: toolsOf(context, candidate, asked, price) }
}
