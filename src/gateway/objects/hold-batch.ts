import { usualImageModel } from '../../core/cost/asked-tools.ts'
import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { BatchAsk } from '../../core/objects/batch-input.ts'
import type { TokenUsage } from '../../core/record.ts'
import { usageDetail } from '../../lanes/usage.ts'
import { amountOf, type BudgetNeed, type Moment } from '../../policy/limits/budget-counters.ts'
import { expectTools, noPrice, unboundedAnswer } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { anyLength, findSpent } from '../../policy/limits/room-to-cap.ts'
import { costOf } from '../../policy/prices/cost.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'
import { countsUsd, onlyWarns, unbounded } from '../upstream/expect-target.ts'
import { budgetsOf, refuse, uncountedSignal } from '../upstream/hold-budgets.ts'
import { budgetsNow } from '../upstream/longest-answer.ts'

interface Sum {
  usd: bigint
  input: number
  output: number
}

/** Holds the most that all requests of a batch, or of an eval's run, can cost. Null: it may be created. */
export async function holdBatch(call: Call, { candidates }: Plan): Promise<Fault | null> {
  const hold = budgetsOf(call.arrival)
  const [target] = candidates
  if (hold === null || target === undefined) return null
  const { batchAsks, object } = call.match.endpoint
  if (call.batchInputs === null) return onlyWarns(call) ? null : unknownFile
  const asks = batchAsks?.(call.inspection, call.body.bytes, call.batchInputs) ?? []
  // A grader that only compares texts asks no model.
  if (asks.length === 0 && object === null) return null
  const sum = sumOf(call, target, asks)
  if (sum === unbounded) return rejectUnbounded(call, hold, (length) => needOf(sumOf(call, target, asks, length)))
  if ('code' in sum) {
    call.trace.policySignals.push(uncountedSignal(sum))
    return sum
  }
  const { timeZone } = call.gateway.model.configuration
  const need = needOf(sum)
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

/**
 * Rejects requests without any known output limit, and names a limit that would fit. `needFor`: the total if each answer has that length.
 */
function rejectUnbounded(call: Call, hold: LimitHold, needFor: (length: number) => BudgetNeed): Fault {
  const budgets = budgetsNow(call, hold)
  const spent = findSpent(budgets, needFor(1))
  if (spent !== null) return refuse(call, spent, null)
  const [least, all] = [needFor(0), needFor(anyLength)]
  // The need grows linearly with the length.
  const fits = budgets.map(({ limit, most, use: { used, held } }) => {
    const without = amountOf(limit, least)
    const each = Number(amountOf(limit, all) - without) / anyLength
    return each > 0 ? Math.floor((most - used - held - Number(without)) / each) : anyLength
  })
  const most = Math.min(...fits)
  const where = isBatch(call) ? 'each request' : 'sampling_params'
  const wrong = unboundedAnswer({ name: nameLimit(call), most: most >= 1 && most < anyLength ? most : null }, where)
  call.trace.policySignals.push(uncountedSignal(wrong))
  return wrong
}

/** The name of the output limit as the requests write it. */
function nameLimit({ lane, match: { endpoint }, body: { bytes } }: Call): string {
  if (lane.name === 'gemini') return 'generationConfig.maxOutputTokens'
  if (endpoint.object?.type !== 'batch') return 'max_completion_tokens'
  return bytes.includes('"/v1/responses"') ? 'max_output_tokens' : 'max_tokens'
}

const needOf = (sum: Sum | Fault): BudgetNeed =>
  'code' in sum ? { usd: 0n, tokens: 0 } : { usd: sum.usd || 1n, tokens: Math.max(1, sum.input + sum.output) }

/** `length`: assumed for each answer without a limit; null: unknown. */
function sumOf(call: Call, target: Candidate, asks: readonly BatchAsk[], length: number | null = null): Sum | Fault {
  const sum: Sum = { usd: 0n, input: 0, output: 0 }
  let isUnbounded = false
  for (const ask of asks) {
    const wrong = add(sum, call, target, { ask, length })
    if (wrong === unbounded) isUnbounded = true
    else if (wrong !== null) return wrong
  }
  return isUnbounded ? unbounded : sum
}

interface Assumed {
  ask: BatchAsk
  length: number | null
}

/** Any of the models that a request names may answer: the dearest counts. */
function add(sum: Sum, call: Call, target: Candidate, { ask, length }: Assumed): Fault | null {
  const dearest: Sum = { usd: 0n, input: 0, output: 0 }
  for (const name of [ask.model, ...(ask.others ?? [])]) {
    const one = needOfModel(call, target, name, { ask, length })
    if ('code' in one) return one
    if (one.usd > dearest.usd) dearest.usd = one.usd
    dearest.input = Math.max(dearest.input, one.input)
    dearest.output = Math.max(dearest.output, one.output)
  }
  sum.usd += dearest.usd
  sum.input += dearest.input
  sum.output += dearest.output
  return null
}

function needOfModel(call: Call, target: Candidate, name: string | null, { ask, length }: Assumed): Sum | Fault {
  const { model: gatewayModel } = call.gateway
  const live = gatewayModel.configuration.providers.get(target.provider.id)
  const model = upstreamName(call, target, name)
  const { unpriced } = call.arrival
  const found = live === undefined ? null : gatewayModel.priceOf(live, model)
  const isFree = found === null && live?.kind.transport !== null
  const price = isFree ? null : (found ?? unpriced?.price ?? null)
  if (!isFree && price === null && unpriced === null && countsUsd(call)) return noPrice(model)
  const most = price?.max_output ?? length
  if (ask.unlimited > 0 && most === null && !isFree && !onlyWarns(call)) return unbounded
  const more = length === null ? 0 : addedBytes(call, ask, length)
  const input = Math.ceil((ask.bytes + more) / bytesPerToken)
  const output = ask.output + ask.unlimited * (most ?? 0)
  const batch = isBatch(call) ? true : null
  const tools = expectTools(ask.tools ?? null, price, imagePriceOf(call, target), { batch, answers: ask.lines })
  const usd = price === null ? 0n : costOfAll(price, ask, estimatedTokens(input, output), batch)
  return { usd: usd + (tools?.usd ?? 0n), input, output: output + (tools?.tokens ?? 0) }
}

function imagePriceOf(call: Call, target: Candidate) {
  return (name: string | null) => {
    const live = call.gateway.model.configuration.providers.get(target.provider.id)
    const model = name === null ? usualImageModel : upstreamName(call, target, name)
    return live === undefined ? null : call.gateway.model.priceOf(live, model)
  }
}

/** Bytes of a member that sets a limit, wherever it is: its name and a number of seven digits. */
const limitBytes = 48

/** Bytes that a limit would add: to each request without one, or to the graders of an eval, which read the answers. */
function addedBytes(call: Call, { unlimited, lines }: BatchAsk, length: number): number {
  if (unlimited > 0) return unlimited * limitBytes
  return isBatch(call) ? 0 : lines * length * bytesPerToken
}

/** Other calls that ask for many answers are charged the normal rates, not those of batches. */
const isBatch = ({ match }: Call) => match.endpoint.object?.type === 'batch'

/** The longest request decides the rates of all: the hold is rather too large than too small. */
function costOfAll(price: ModelPrice, ask: BatchAsk, { input, output }: TokenUsage, batch: true | null): bigint {
  const over = price.long_context?.over ?? Number.POSITIVE_INFINITY
  const isLong = ask.longest / bytesPerToken > over
  const long = Math.ceil((ask.writtenLong ?? 0) / bytesPerToken)
  const written = Math.min(input, Math.ceil((ask.written ?? 0) / bytesPerToken) + long)
  const tokens = { ...estimatedTokens(input, output), cache_write: written }
  const detail = usageDetail({ batch, geo: ask.geo, cache_write_1h: long })
  return costOf({ tokens, detail }, isLong ? price : { ...price, long_context: null }) ?? 0n
}

/** In files, models already have the provider's names. */
function upstreamName({ inspection }: Call, target: Candidate, model: string | null): string {
  if (model === null || model === inspection.model) return target.upstreamModel
  const place = inspection.additionalModels?.findIndex(({ name }) => name === model) ?? -1
  return target.additionalUpstreamModels?.[place] ?? model
}
