import type { Fault } from '../../../core/errors.ts'
import { bytesPerToken } from '../../../core/estimated-tokens.ts'
import { type Limit, limitAt } from '../../../core/policy-limits.ts'
import { outputCap } from '../../../policy/admit.ts'
import type { EffectivePolicy } from '../../../policy/effective.ts'
import { accountLimits } from '../../../policy/limits/account-limits.ts'
import { refusedByBudget } from '../../../policy/limits/budget-faults.ts'
import {
  type Expected,
  expectAnswer,
  needOf,
  noAccountPrice,
  priceForTier,
  smallestIncrement,
  unboundedAnswer,
} from '../../../policy/limits/expected-use.ts'
import { refusedByLimit } from '../../../policy/limits/limit-faults.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import { vendorOf } from '../../../providers/vendor.ts'
import type { Candidate, Plan } from '../../../routing/plan.ts'
import type { AdminContext } from '../context.ts'
import type { RouteQuestion } from './explain-question.ts'

type AccountCall = Pick<RouteQuestion, 'bytes' | 'outputLimit' | 'answers' | 'streamed'> & {
  /** null: not known, and the request is taken for the smallest that there is. */
  text: string | null
  /** Of the key; null: none was named. */
  policy: Pick<EffectivePolicy, 'output' | 'unpriced'> | null
}

/**
 * Of the targets of a plan, those whose accounts have no room for the request at this moment: the data plane skips them when their
 * turn comes (`account-holds.ts`).
 */
export function refusedByAccounts(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  { candidates }: Pick<Plan, 'candidates'>,
  asked: AccountCall,
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
  asked: AccountCall
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
    const reason =
      limit.period === null
        ? refusedByMinute(context, limit, asked, now)
        : expected === null
          ? null
          : refusedByPeriod(context, limit, expected, now)
    if (reason !== null) return reason
  }
  return null
}

function refusedByMinute({ runtime }: Pick<AdminContext, 'runtime'>, limit: Limit, asked: AccountCall, now: number) {
  const { used, resetsAt, includesHeld } = runtime.limitUsage(limit)
  const amount = limit.kind === 'requests' ? 1 : Math.max(1, inputOf(asked) + (limitOf(asked) ?? 0))
  if (used + amount <= limit.limit) return null
  const waits = amount <= limit.limit && resetsAt !== null
  const apart = includesHeld === true ? 'held' : null
  return refusedByLimit({ limit, amount, used, waitMs: waits ? resetsAt - now : null, apart }).fault
}

function refusedByPeriod({ runtime }: Pick<AdminContext, 'runtime'>, limit: Limit, expected: Expected, now: number) {
  const { resetsAt, ...use } = runtime.limitUsage(limit)
  const most = limitAt(limit, now)
  const output = expected.grows ? Math.min(expected.output, smallestIncrement) : expected.output
  const need = needOf(expected, output).usd
  // A limit of 0 lets nothing pass, whatever it costs.
  if (most > 0 && Number(need) + use.used + use.held <= most) return null
  const why = most > 0 && Number(need) + use.used <= most ? 'held' : 'spent'
  return refusedByBudget({ limit, period: { end: resetsAt ?? now }, need, most, use, why }, null).fault
}

/** As the data plane expects it of a call that asks a model. */
function expect(
  { runtime, kinds }: Pick<AdminContext, 'runtime' | 'kinds'>,
  { provider, upstreamModel: model }: Candidate,
  asked: AccountCall,
): Expected | Fault {
  const kind = kinds.find((each) => each.kind === provider.kind)
  const target = { provider: provider.name, vendor: kind === undefined ? '' : vendorOf(kind, provider.settings), model }
  const found = new PriceBook(runtime.prices()).find(target)
  const isFree = found === null && (kind === undefined || kind.transport !== null)
  const body = Buffer.from(asked.text ?? '')
  const price = isFree ? null : priceForTier(found ?? asked.policy?.unpriced?.price ?? null, body)
  if (price === null && !isFree) return noAccountPrice(model)
  const streamed = asked.streamed || asked.text === null
  const size = { outputLimit: limitOf(asked), streamed, answers: asked.answers }
  const answer = expectAnswer(price, isFree, size)
  return answer === null ? unboundedAnswer() : { price, input: inputOf(asked), ...answer }
}

const inputOf = ({ bytes }: AccountCall): number => Math.ceil(bytes / bytesPerToken)
const limitOf = ({ outputLimit, policy }: AccountCall): number | null =>
  outputCap(policy?.output ?? null, outputLimit) ?? outputLimit
