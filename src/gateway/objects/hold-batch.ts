import { type Fault, fault } from '../../core/errors.ts'
import { bytesPerToken, estimatedTokens } from '../../core/estimated-tokens.ts'
import type { ModelPrice } from '../../core/model-price.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import type { BatchAsk } from '../../core/stored-object.ts'
import { usageDetail } from '../../lanes/usage.ts'
import type { BudgetNeed, Moment } from '../../policy/limits/budget-counters.ts'
import { noPrice, unboundedAnswer } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { costOf } from '../../policy/prices/cost.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'
import { countsUsd, onlyWarns } from '../upstream/expect-target.ts'
import { budgetsOf, refuse, refusedUncounted } from '../upstream/hold-budgets.ts'

interface Sum {
  usd: bigint
  input: number
  output: number
}

const perBatch = usageDetail({ batch: true })

/** Holds what all requests of a batch, or of the run of an eval, may come to. Null: it may be made. */
export async function holdBatch(call: Call, { candidates }: Plan): Promise<Fault | null> {
  const hold = budgetsOf(call.arrival)
  const [target] = candidates
  if (hold === null || target === undefined) return null
  const { batchAsks, object } = call.match.endpoint
  if (call.batchInputs === null) return onlyWarns(call) ? null : unknownFile
  const asks = batchAsks?.(call.inspection, call.body.bytes, call.batchInputs) ?? []
  // A grader that only compares texts.
  if (asks.length === 0 && object === null) return null
  const sum: Sum = { usd: 0n, input: 0, output: 0 }
  for (const ask of asks) {
    const wrong = add(sum, call, target, ask)
    if (wrong !== null) {
      call.trace.policySignals.push(refusedUncounted(wrong))
      return wrong
    }
  }
  const { timeZone } = call.gateway.model.configuration
  const need = { usd: sum.usd || 1n, tokens: Math.max(1, sum.input + sum.output) }
  const refusal = await holdAll(call, hold, need, { timeZone, now: call.arrival.receivedAt })
  if (refusal !== null) return refuse(call, refusal, null)
  hold.heldFor = { input: sum.input, output: sum.output, target }
  return null
}

async function holdAll({ gateway: { limits } }: Call, hold: LimitHold, need: BudgetNeed, moment: Moment) {
  if (!limits.sharesBudgets) return limits.holdBudgets(hold, need, moment)
  const { holdAsking } = await import('../upstream/hold-shared.ts')
  return await holdAsking(limits, hold, need, moment)
}

const unknownFile = fault(
  'policy_denied',
  'A budget applies, and what the file of this batch asks for is not known here. Upload it again, through the gateway.',
)

function add(sum: Sum, call: Call, target: Candidate, ask: BatchAsk): Fault | null {
  const { model: gatewayModel } = call.gateway
  const live = gatewayModel.configuration.providers.get(target.provider.id)
  const model = upstreamName(call, target, ask.model)
  const { unpriced } = call.arrival
  const found = live === undefined ? null : gatewayModel.priceOf(live, model)
  const isFree = found === null && live?.kind.transport !== null
  const price = isFree ? null : (found ?? unpriced?.price ?? null)
  if (!isFree && price === null && unpriced === null && countsUsd(call)) return noPrice(model)
  const most = price?.max_output ?? null
  if (ask.unlimited > 0 && most === null && !isFree && !onlyWarns(call))
    return unboundedAnswer(null, isBatch(call) ? 'each request' : 'sampling_params')
  const input = Math.ceil(ask.bytes / bytesPerToken)
  const output = ask.output + ask.unlimited * (most ?? 0)
  sum.input += input
  sum.output += output
  if (price !== null) sum.usd += costOfAll(price, ask, estimatedTokens(input, output), isBatch(call) ? perBatch : null)
  return null
}

/** What else is asked in one call has the usual rates. */
const isBatch = ({ match }: Call) => match.endpoint.object?.type === 'batch'

/** The longest request chooses the rates of all: what is held is rather too much than too little. */
function costOfAll(price: ModelPrice, { longest }: BatchAsk, tokens: TokenUsage, detail: UsageDetail | null): bigint {
  const over = price.long_context?.over ?? Number.POSITIVE_INFINITY
  const isLong = longest / bytesPerToken > over
  return costOf({ tokens, detail }, isLong ? price : { ...price, long_context: null }) ?? 0n
}

/** The names in files are the provider's already. */
function upstreamName({ inspection }: Call, target: Candidate, model: string | null): string {
  if (model === null || model === inspection.model) return target.upstreamModel
  const place = inspection.additionalModels?.findIndex(({ name }) => name === model) ?? -1
  return target.additionalUpstreamModels?.[place] ?? model
}
