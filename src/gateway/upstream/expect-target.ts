import { type AskedTools, usualImageModel } from '../../core/cost/asked-tools.ts'
import { fillPrice, type ModelPrice } from '../../core/cost/model-price.ts'
import type { Fault } from '../../core/errors.ts'
import type { UsageDetail } from '../../core/record.ts'
import { readAskedTools } from '../../lanes/asked-tools.ts'
import type { BudgetNeed } from '../../policy/limits/budget-counters.ts'
import {
  type AskedRates,
  askedRates,
  dearestOf,
  type Expected,
  expectAnswer,
  expectMedia,
  expectTools,
  increment,
  inSound,
  noPrice,
  priceAsAsked,
  unboundedAnswer,
} from '../../policy/limits/expected-use.ts'
import type { Candidate } from '../../routing/plan.ts'
import { askedUnits } from '../request/asked-units.ts'
import type { Call } from '../request/call.ts'
import { fallbackModels } from './fallback-models.ts'

/** The part of a target that decides its price and the length of its answer. */
export type Priced = Pick<Candidate, 'upstreamModel' | 'additionalUpstreamModels'> & {
  provider: Pick<Candidate['provider'], 'id'>
}

interface Expectation {
  forAccount?: boolean
  rates?: AskedRates | null
  tools?: AskedTools | null
  outputCap: number | null
}

/**
 * The most expensive of the models that may answer. `forAccount`: limits of the provider's own account never only warn. `rates`, `tools`: what
 * frames of a connection ask for.
 */
export function expectTarget(
  call: Call,
  target: Priced,
  asked: Pick<Expectation, 'forAccount' | 'rates' | 'tools'> = {},
): Expected | Fault {
  return dearestOf(expectEach(call, target, { ...asked, outputCap: call.outputCap }))
}

/** One expectation for each model that may answer. `outputCap`: as if the client allowed this many output tokens. */
export function expectEach(call: Call, target: Priced, asked: Expectation): (Expected | Fault)[] {
  const names = [target.upstreamModel, ...(fallbackModels(call, target) ?? [])]
  return names.map((upstreamModel) => expectModel(call, { ...target, upstreamModel }, asked))
}

function expectModel(
  call: Call,
  target: Priced,
  { forAccount, rates, tools, outputCap }: Expectation,
): Expected | Fault {
  const { provider, upstreamModel } = target
  const { gateway, inspection, match, body } = call
  const live = gateway.model.configuration.providers.get(provider.id)
  const { usesTokens, outputLimits } = match.endpoint
  // A later step of a run cannot name the model: the run's model applies, if it is known.
  const isLater = isLaterStep(call)
  const earlier = isLater ? (call.arrival.objects?.earlier ?? null) : null
  const model = earlier?.model ?? upstreamModel
  const found = live === undefined ? null : gateway.model.priceOf(live, model)
  const isFree = found === null && (live === undefined || live.kind.transport !== null)
  // What a policy says about models without a price applies here too: a rate, or that they may be used uncounted.
  const { unpriced } = call.arrival
  const price = isFree
    ? null
    : priceAsAsked(found ?? unpriced?.price ?? null, (own) =>
        rates === undefined ? askedRates(body.bytes, own) : rates,
      )
  const isUnknown = isLater && earlier === null
  if (!isFree && !isUnknown && price === null && unpriced === null && usesTokens && countsUsd(call))
    return noPrice(model)
  const input = usesTokens ? call.inputTokens + (earlier?.input ?? 0) : 0
  const beside = toolsOf(call, target, price, tools)
  // Any turn of a connection may answer in sound.
  if (match.endpoint.socket !== null)
    return { price: price && inSound(price), input, output: increment, grows: true, beside }
  if (outputLimits === undefined && !isLater) return { price, input, ...expectMedia(price, unitsOf(call)) }
  const { streamed, answers } = inspection
  const size = { outputLimit: outputCap ?? inspection.outputLimit ?? earlier?.output ?? null, streamed, answers }
  // If the policy lets a model without a price be used uncounted, its answer may have any length.
  const isUncounted = !forAccount && (onlyWarns(call) || (price === null && !countsTokens(call)))
  const expected = expectAnswer(price, isFree || isLater || isUncounted, size)
  if (expected === null) return unbounded
  return { price: isUnknown ? (price ?? shownLater) : price, input, ...expected, beside }
}

/** What the tools of the provider that a request asks for may use. */
function toolsOf(
  { gateway, inspection, body }: Call,
  target: Priced,
  price: ModelPrice | null,
  asked = price === null ? null : readAskedTools(body.bytes, inspection.tools),
): BudgetNeed | undefined {
  const priceOf = (name: string | null) => {
    const live = gateway.model.configuration.providers.get(target.provider.id)
    const place = inspection.additionalModels?.findIndex((each) => each.name === name) ?? -1
    const model = target.additionalUpstreamModels?.[place] ?? name ?? usualImageModel
    return live === undefined ? null : gateway.model.priceOf(live, model)
  }
  return expectTools(asked, price, priceOf, { answers: inspection.answers })
}

/** A file has so many bytes as it announces. */
function unitsOf(call: Call): UsageDetail | null {
  const { arrival, body } = call
  const announced = body.upload === null ? 0 : Number(arrival.request.headers['content-length'] ?? 0)
  return askedUnits(call, Math.max(body.upload?.received ?? body.bytes.length, announced))
}

export const unbounded = Object.freeze(unboundedAnswer())

/** Whether the call is a later step of a run. */
export const isLaterStep = ({ match: { endpoint } }: Call): boolean =>
  endpoint.startedWork !== undefined && endpoint.model === 'none'

/** Only the end of the work shows what it used: until then the budget needs some room left, however little. */
const shownLater = fillPrice({ model: '', source: 'set', version: '' })

export const countsUsd = ({ arrival }: Call): boolean =>
  arrival.limits?.hold?.limits.some(({ kind, warns }) => kind === 'usd' && !warns) === true

const countsTokens = ({ arrival }: Call): boolean =>
  arrival.limits?.hold?.limits.some(({ kind, period, warns }) => kind === 'tokens' && period !== null && !warns) ===
  true

/** Whether all budgets only warn: such budgets reject nothing. */
export function onlyWarns({ arrival }: Call): boolean {
  return arrival.limits?.hold?.limits.every(({ period, warns }) => period === null || warns) === true
}
