import { usualImageModel } from '../../../core/cost/asked-tools.ts'
import type { ModelPrice } from '../../../core/cost/model-price.ts'
import { type Limit, limitAt } from '../../../core/policies/policy-limits.ts'
import { outputCap } from '../../../policy/admit.ts'
import type { EffectivePolicy } from '../../../policy/effective.ts'
import { amountOf, type BudgetNeed } from '../../../policy/limits/budget-counters.ts'
import type { RefusalFacts } from '../../../policy/limits/budget-faults.ts'
import {
  askedRates,
  type Expected,
  expectAnswer,
  expectMedia,
  expectTools,
  needOf,
  priceAsAsked,
  smallestIncrement,
} from '../../../policy/limits/expected-use.ts'
import type { LimitRefusal } from '../../../policy/limits/limit-counters.ts'
import { whyRefused } from '../../../policy/limits/why-refused.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import { vendorOf } from '../../../providers/vendor.ts'
import { type Candidate, fallbacksOf } from '../../../routing/candidates.ts'
import type { AdminContext } from '../context.ts'
import type { RouteQuestion } from './explain-question.ts'

/** What of a request limits and budgets count. */
export type CountedCall = Pick<
  RouteQuestion,
  | 'input'
  | 'units'
  | 'tools'
  | 'outputLimit'
  | 'answers'
  | 'streamed'
  | 'usesTokens'
  | 'limitedBy'
  | 'additionalModels'
  | 'user'
> & {
  /** null: not known, and the request is taken for the smallest that there is. */
  text: string | null
  /** Of the key; null: none was named. */
  policy: Pick<EffectivePolicy, 'output' | 'unpriced'> | null
  /** What a budget lets it write, where that is less; absent: no budget does. */
  room?: number
  /** In epoch milliseconds: everything that is said of it is true of this moment. */
  now: number
}

/** Why a limit a minute, or of requests at once, refuses the request at this moment. Null: it would pass. */
export function findMinuteRefusal(
  { runtime }: Pick<AdminContext, 'runtime'>,
  limit: Limit,
  asked: CountedCall,
): Omit<LimitRefusal, 'want'> | null {
  const { user, now } = asked
  const { used, includesHeld, apart: isApart } = runtime.limitUsage(limit, null, user)
  const amount = limit.kind === 'tokens' ? tokensOf(asked) : 1
  const missing = used + amount - limit.limit
  if (missing <= 0) return null
  const { resetsAt } = runtime.limitUsage(limit, missing, user)
  const wait = limit.kind === 'concurrency' ? 1000 : resetsAt === null ? null : resetsAt - now
  const apart = isApart ?? (includesHeld === true ? 'held' : null)
  return { limit, amount, used, waitMs: amount > limit.limit ? null : wait, apart }
}

/** The same of budgets; of a stream without a limit as much is held as there is room for. */
export function findBudgetRefusal(
  context: Pick<AdminContext, 'runtime'>,
  limits: readonly Limit[],
  expected: Expected,
  asked: Pick<CountedCall, 'user' | 'now'>,
): RefusalFacts | null {
  for (let { output } = expected; ; output = Math.floor(output / 2)) {
    const found = limits.map((limit) => refuseBudget(context, limit, { ...expected, output }, asked))
    const refusal = found.find((each) => each !== null) ?? null
    if (refusal === null || !expected.grows || output / 2 < smallestIncrement) return refusal
  }
}

function refuseBudget(
  { runtime }: Pick<AdminContext, 'runtime'>,
  limit: Limit,
  expected: Expected,
  { user, now }: Pick<CountedCall, 'user' | 'now'>,
): RefusalFacts | null {
  const { resetsAt, apart, ...use } = runtime.limitUsage(limit, null, user)
  const most = limitAt(limit, now)
  const need = amountOf(limit, needOf(expected, expected.output))
  // Of what is left, a node that is cut off can be given nothing.
  const isCutOff = apart != null
  const left = isCutOff && use.shared !== undefined ? use.shared.free : most - use.used - use.held
  // A limit of 0 lets nothing pass, whatever it costs.
  if (most > 0 && Number(need) <= left) return null
  const why = whyRefused({ need, more: need, most, use, isCutOff })
  return { limit, period: { end: resetsAt ?? now }, need, most, use, why }
}

/** `price`: as the request's tier and the policies of its key have it; null: it is free there, or there is none. */
export function priceAt(
  { runtime, kinds }: Pick<AdminContext, 'runtime' | 'kinds'>,
  { provider, upstreamModel: model }: Pick<Candidate, 'provider' | 'upstreamModel'>,
  { text, policy }: Pick<CountedCall, 'text' | 'policy'>,
) {
  const kind = kinds.find((each) => each.kind === provider.kind)
  const found = findPrice({ runtime, kinds }, provider, model)
  const isFree = found === null && (kind === undefined || kind.transport !== null)
  const price = isFree
    ? null
    : priceAsAsked(found ?? policy?.unpriced?.price ?? null, (own) => askedRates(Buffer.from(text ?? ''), own))
  return { price, isFree }
}

function findPrice(
  { runtime, kinds }: Pick<AdminContext, 'runtime' | 'kinds'>,
  provider: Candidate['provider'],
  model: string,
): ModelPrice | null {
  const kind = kinds.find((each) => each.kind === provider.kind)
  const vendor = kind === undefined ? '' : vendorOf(kind, provider.settings)
  return new PriceBook(runtime.prices()).find({ provider: provider.name, vendor, model })
}

/** What the tools that it asks for may use, as the data plane expects it. `price`: of the model. */
export function toolsOf(
  context: Pick<AdminContext, 'runtime' | 'kinds'>,
  { provider, additionalUpstreamModels }: Candidate,
  { tools = null, additionalModels, answers }: Pick<CountedCall, 'tools' | 'additionalModels' | 'answers'>,
  price: ModelPrice | null,
): BudgetNeed | undefined {
  const priceOf = (name: string | null) => {
    const place = additionalModels?.findIndex((each) => each.name === name) ?? -1
    return findPrice(context, provider, additionalUpstreamModels?.[place] ?? name ?? usualImageModel)
  }
  return expectTools(tools, price, priceOf, { answers })
}

/** The names of all models that may answer there, its own first. */
export function namesAt(
  { upstreamModel, additionalUpstreamModels }: Candidate,
  { additionalModels }: Pick<CountedCall, 'additionalModels'>,
): readonly string[] {
  return [upstreamModel, ...(fallbacksOf(additionalModels, additionalUpstreamModels) ?? [])]
}

/** What a limit of tokens a minute counts of it when it comes. */
export const tokensOf = (asked: CountedCall): number =>
  asked.usesTokens ? Math.max(1, asked.input + (limitOf(asked) ?? 0)) : 0

/** The most that the request may write; null: it sets no limit, and no policy does. */
export function limitOf(asked: CountedCall): number | null {
  const { outputLimit, policy, room, limitedBy } = asked
  // Vectors, images and sound have no length that anybody could limit.
  return limitedBy === null ? null : (room ?? outputCap(policy?.output ?? null, outputLimit) ?? outputLimit)
}

/** How long its answer may get, as the data plane expects it; null: nobody knows. */
export function expectLength(
  asked: CountedCall,
  price: ModelPrice | null,
  isUncounted: boolean,
): Pick<Expected, 'output' | 'grows' | 'units'> | null {
  if (asked.limitedBy === null) return expectMedia(price, asked.units ?? null)
  const streamed = asked.streamed || asked.text === null
  return expectAnswer(price, isUncounted, { outputLimit: limitOf(asked), streamed, answers: asked.answers })
}
