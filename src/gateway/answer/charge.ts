import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import { roundUsd, usdOfNano } from '../../core/cost/money.ts'
import type { AttemptRecord, Cost, TokenUsage } from '../../core/record.ts'
import { modelsBeside, uncharged } from '../../core/turns-signal.ts'
import { groupDigits } from '../../core/units.ts'
import type { TurnUsage } from '../../lanes/contract.ts'
import { usesHostedTools } from '../../lanes/hosted-tools.ts'
import { doubtedFrom, mostPossible, usageDetail } from '../../lanes/usage.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import { expectMedia } from '../../policy/limits/expected-use.ts'
import { costOf, type PricedUsage, unpricedText } from '../../policy/prices/cost.ts'
import { noPriceText } from '../../policy/prices/find-price.ts'
import type { Arrival } from '../request/arrival.ts'
import { askedUnits } from '../request/asked-units.ts'
import type { Call } from '../request/call.ts'
import type { EarlierParts, RequestEnd, Trace } from '../request/trace.ts'
import { type Leg, pricedAs } from '../upstream/leg.ts'
import type { UpstreamCall } from '../upstream/upstream-call.ts'
import { embeddedTokens } from './embedded-tokens.ts'
import { textBytes, type WrittenAnswer, writtenBytes } from './written-tokens.ts'

/**
 * What a request is charged if its end is never journaled: what its budgets hold for it, else its estimated input and as much output as the
 * client allows (none if the client sets no limit).
 */
export function estimateHold({ arrival, inputTokens, inspection, match, outputCap }: Call): TokenUsage | null {
  if (!match.endpoint.usesTokens) return null
  const heldFor = arrival.limits?.hold?.heldFor ?? null
  const output = heldFor?.output ?? outputCap ?? inspection.outputLimit ?? 0
  const input = heldFor?.input ?? inputTokens
  return { input, output, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' }
}

/**
 * Prices the request: the sum of its attempts. The last attempt gets the usage of the answer, at the price of the model that it reached.
 */
export function priceCall(arrival: Arrival, end: RequestEnd): void {
  const { trace } = arrival
  const { attempts } = trace
  const last = attempts.at(-1)
  const { statedTier } = trace
  if ((end.detail ?? null) === null && (end.tokens === null || isPricedByUnit(arrival))) addUnits(arrival, end)
  if (statedTier !== null && end.tokens !== null && (end.detail?.tier ?? null) === null)
    end.detail = usageDetail({ ...end.detail, tier: statedTier })
  if (end.tokens !== null && mostOf(end.tokens) > doubtedFrom) doubtReport(arrival, end, end.tokens)
  const usage = { tokens: end.tokens, detail: end.detail ?? null }
  if (usage.tokens !== null || usage.detail !== null) {
    // Turns of a connection are priced one by one, and may be of other models than its own.
    const isOfTurns = trace.turnsCost !== null || arrival.match?.endpoint.socket != null
    trace.cost = isOfTurns ? trace.turnsCost : priceUsage(arrival, usage)
    if (end.free === true && trace.cost !== null && trace.priced?.vendor === 'anthropic') {
      trace.cost = { ...trace.cost, usd: 0 }
      trace.note(...uncharged)
    }
    if (last !== undefined) last.cost = trace.cost
    if (last !== undefined && trace.priced !== null && trace.priced.model !== last.upstream_model)
      last.priced_as = trace.priced.model
  }
  if (end.earlier !== undefined) addEarlier(trace, end, end.earlier)
  if (attempts.length > 1 || trace.cutTokens !== null) trace.cost = sumCosts(attempts)
}

const mostOf = ({ input, output }: TokenUsage): number => Math.max(input, output)

/**
 * A single false report must not use up a whole budget: a report far above what the model can read or write for this request is replaced by
 * what the request held, or by an estimate from its length.
 */
function doubtReport(arrival: Arrival, end: RequestEnd, tokens: TokenUsage): void {
  const { trace, match, limits } = arrival
  if (match === null) return
  const { socket, reportsUsage, model } = match.endpoint
  // Such reports sum up many answers.
  if (socket !== null || reportsUsage === 'end' || model === 'none' || !isDoubtful(arrival, tokens)) return
  const held = limits?.hold?.heldFor ?? null
  const written = Math.ceil(trace.responseBytes / bytesPerToken)
  const output = held?.limited === true ? held.output : Math.max(held?.output ?? 0, written)
  end.tokens = estimatedTokens(held?.input ?? Math.ceil(trace.requestBytes / bytesPerToken), output)
  end.detail = usageDetail({ tier: end.detail?.tier })
}

/** `tokens`: of one answer, also on a connection. A report that cannot be true is noted on the record. */
function isDoubtful({ gateway, trace, body, lane, match }: Arrival, tokens: TokenUsage): boolean {
  const { provider, priced } = trace
  if (lane === null || priced === null || tokens.source !== 'reported') return false
  const price = priceAt(gateway, trace)
  // A connection's tools are named in its frames.
  const hostedTools = match?.endpoint.socket != null || usesHostedTools(lane.name, body.bytes)
  const most = mostPossible(price, { hostedTools, sent: trace.requestBytes, received: trace.responseBytes })
  if (tokens.input <= most.input && tokens.output <= most.output) return false
  // Noted once, however many turns a connection has.
  if (trace.policySignals.some(({ rule }) => rule === 'usage')) return true
  const reported = `${groupDigits(tokens.input)} tokens of input and ${groupDigits(tokens.output)} of output`
  trace.policySignals.push({
    rule: 'usage',
    verdict: 'flag',
    text: `The provider reported ${reported}, more than the model can have used: the request costs an estimate instead.`,
    data: { provider, model: priced.model, input_tokens: tokens.input, output_tokens: tokens.output },
  })
  return true
}

/** Each part of an answer is priced by itself, since the length of a part's prompt decides its rates. */
function addEarlier(trace: Trace, end: RequestEnd, { tokens, detail, cost }: EarlierParts): void {
  end.tokens = addUsage(tokens, end.tokens)
  end.detail = addUsageDetail(detail, end.detail ?? null)
  trace.cost = addCosts(cost, trace.cost)
  const last = trace.attempts.at(-1)
  if (last !== undefined) last.cost = trace.cost
}

/** Adds up the parts of an answer so far. This leg's part is the last. */
export function chargePart(leg: Leg): EarlierParts {
  const { call, reader, provider } = leg
  const tokens = reader.usage() ?? estimateCut(call, null)
  const detail = reader.usageDetail()
  const at = { provider: provider.row.name, priced: pricedAs(leg) }
  const parts = addPart(chargeBeside(leg), { tokens, detail }, priceUsage(call.arrival, { tokens, detail }, at))
  return { ...parts, count: parts.count + 1 }
}

/** What the parts of an answer before this leg's came to, and what other models have used for it. Undefined: there is nothing of either. */
export function chargeBeside({ call: { arrival }, reader, earlier, provider }: Leg): EarlierParts | undefined {
  const used = reader.beside?.() ?? []
  const { priced } = arrival.trace
  let parts = earlier
  for (const { tokens, detail, model } of used) {
    if (tokens === null || (mostOf(tokens) > doubtedFrom && isDoubtful(arrival, tokens))) continue
    const own = model === undefined || priced === null ? priced : { ...priced, model }
    const cost = priceUsage(arrival, { tokens, detail }, { provider: provider.row.name, priced: own })
    parts = addPart(parts, { tokens, detail }, cost)
    arrival.trace.noteOnce(...modelsBeside)
  }
  return parts
}

function addPart(
  parts: EarlierParts = { count: 0, tokens: null, detail: null, cost: null },
  { tokens, detail }: PricedUsage,
  cost: Cost | null,
): EarlierParts {
  return {
    count: parts.count,
    tokens: addUsage(parts.tokens, tokens),
    detail: addUsageDetail(parts.detail, detail),
    cost: addCosts(parts.cost, cost),
  }
}

/** Charges a failed attempt for the parts of its answer that had arrived. */
export function chargeEarlier({ call: { trace }, earlier }: Leg, attempt: AttemptRecord): void {
  if (earlier === undefined) return
  attempt.cost = addCosts(earlier.cost, attempt.cost)
  trace.cutTokens = addUsage(earlier.tokens, trace.cutTokens)
}

function addCosts(one: Cost | null, other: Cost | null): Cost | null {
  return one === null || other === null ? (one ?? other) : { ...other, usd: roundUsd(one.usd + other.usd) }
}

/** A model priced per image or per second may still report tokens. */
function isPricedByUnit({ gateway, trace, match }: Arrival): boolean {
  const price = match?.endpoint.readUnits === undefined ? null : priceAt(gateway, trace)
  return price !== null && price.input === null && price.output === null
}

/**
 * Takes the usage from the request if the answer does not report it. A call that costs an unknown amount is flagged, never silently free.
 */
function addUnits({ gateway, match, body, trace }: Arrival, end: RequestEnd): void {
  if (match === null || trace.priced === null || !mayCost(end, trace.attempts.at(-1))) return
  const { endpoint } = match
  if (endpoint.readUnits !== undefined) {
    end.detail = askedUnits({ match, body }, trace.requestBytes)
    const price = priceAt(gateway, trace)
    const { output, units = null } = expectMedia(price, end.detail)
    const isText = (end.detail?.characters ?? null) !== null && price?.per_character === null && price.input !== null
    if (end.tokens === null && (output > 0 || isText)) {
      // Paid by the token, of which the answer tells nothing.
      end.tokens = estimatedTokens(Math.ceil(trace.requestBytes / bytesPerToken), output)
      end.detail = units
    }
    // Its length is estimated; tokens it has none.
    if (body.upload !== null && end.detail?.seconds != null) end.tokens ??= estimatedTokens(0, 0)
  }
  if ((end.detail ?? null) !== null || end.tokens !== null || !endpoint.billed || end.error !== null) return
  trace.policySignals.push({
    rule: 'unpriced',
    verdict: 'flag',
    text: 'The answer does not say what it used, so this request has no cost.',
    data: { model: trace.priced.model, provider: trace.provider },
  })
}

/** It succeeded, or it reached the provider and was cut from this side. */
function mayCost({ status, error }: RequestEnd, attempt: AttemptRecord | undefined): boolean {
  if (error === null) return status >= 200 && status < 300
  const cut = error.code === 'client_closed' || error.code === 'provider_timeout'
  return cut && (attempt?.connected_ms ?? null) !== null
}

/** The provider that a request was sent to, and the model whose price applies. */
type PricedAt = Pick<Trace, 'provider' | 'priced'>

const priceAt = ({ model }: Arrival['gateway'], { provider, priced }: PricedAt) =>
  provider === null || priced === null ? null : model.prices.find({ provider, ...priced })

/** A model without a price is never silently free: it leaves the signal `unpriced` (contract.md rule 7). */
function priceUsage(arrival: Arrival, usage: PricedUsage, at: PricedAt = arrival.trace): Cost | null {
  const { gateway, trace, unpriced } = arrival
  const { policySignals } = trace
  const { provider, priced } = at
  if (provider === null || priced === null) return null
  const price = priceAt(gateway, at) ?? unpriced?.price ?? null
  const nano = price === null ? null : costOf(usage, price)
  const cost = price === null || nano === null ? null : { usd: usdOfNano(nano), price_version: price.version }
  const { model } = priced
  const text = price === null ? noPriceText(model) : unpricedText(model, price, { detail: usage.detail, cost })
  if (text === null) return cost
  // Noted once, although each attempt and each turn of a connection comes here.
  for (const signal of policySignals) if (signal.text === text) return cost
  policySignals.push({ rule: 'unpriced', verdict: 'flag', text, data: { model, provider } })
  return cost
}

/** A turn's reported usage if it can be true, else the estimate from its frames. */
export function believeTurn({ arrival }: Call, turn: TurnUsage, estimate: TokenUsage): TurnUsage {
  const { tokens, detail } = turn
  if (tokens === null || mostOf(tokens) <= doubtedFrom || !isDoubtful(arrival, tokens)) return turn
  return { tokens: estimate, detail: usageDetail({ tier: detail?.tier }) }
}

/** Prices each turn by itself: long-context rates depend on one answer, not on the whole connection. `model` null: the connection's own. */
export function chargeTurn({ arrival, trace }: Call, turn: PricedUsage, model: string | null): void {
  const { provider, priced, upstreamModel } = trace
  const other = model === null || model === upstreamModel || priced === null ? priced : { ...priced, model }
  const cost = priceUsage(arrival, turn, { provider, priced: other })
  if (cost !== null) trace.turnsCost = { ...cost, usd: roundUsd((trace.turnsCost?.usd ?? 0) + cost.usd) }
}

/** The sum has the price version of the last attempt. */
function sumCosts(attempts: readonly AttemptRecord[]): Cost | null {
  const costs = attempts.map(({ cost }) => cost).filter((cost) => cost !== null)
  const last = costs.at(-1)
  return last === undefined ? null : { ...last, usd: roundUsd(costs.reduce((sum, { usd }) => sum + usd, 0)) }
}

/**
 * An attempt that reached the provider and was cut by a timeout or the client may be billed all the same: it is charged what was reported
 * so far, else an estimate.
 */
export function chargeCutAttempt(leg: Leg, attempt: AttemptRecord, upstream: UpstreamCall): void {
  const { call } = leg
  const tokens = upstream.times.connected === null ? null : estimateCut(call, upstream.reader.usage())
  if (tokens !== null) {
    call.trace.cutTokens = { ...tokens, source: 'estimated' }
    const at = { provider: leg.provider.row.name, priced: pricedAs(leg) }
    attempt.cost = priceUsage(call.arrival, { tokens, detail: null }, at)
  }
  chargeEarlier(leg, attempt)
}

/**
 * Tokens of a call that was cut before any content came: what was reported, else its input. Null: it asks no model, or its body went up as
 * a stream.
 */
export function estimateCut(
  { match, inspection, body, inputTokens }: Call,
  reported: TokenUsage | null,
): TokenUsage | null {
  const { usesTokens, model, reportsUsage, socket, readUnits } = match.endpoint
  if (reported !== null) return reported
  if (!usesTokens || model === 'none' || inspection.model === null || reportsUsage === 'end') return null
  if (socket !== null || body.upload !== null || readUnits !== undefined) return null
  const input = match.endpoint.embeds === true ? embeddedTokens(body.bytes) : null
  return estimatedTokens(input ?? inputTokens, 0)
}

/** The usage of a whole answer: as reported, else estimated from its text; null: unknown. */
export function usedByWhole({ call, reader }: Leg, body: Buffer): TokenUsage | null {
  const reported = reader.usage()
  if (reported !== null && !reader.estimable) return reported
  if (reported !== null && reported.output > 0) return withPrompt(call, reported)
  // Gemini's embeddings report no usage.
  if (call.match.endpoint.embeds === true) return (reported?.input ?? 0) > 0 ? reported : estimateCut(call, null)
  return reader.estimable ? usedByAnswer(call, reported, writtenBytes(textBytes(body))) : null
}

/** The usage of an answer that came in pieces; `complete`: to its end. */
export function usedByPieces({ call, reader }: Leg, written: WrittenAnswer, complete: boolean): TokenUsage | null {
  const reported = reader.usage()
  if (complete) return reader.estimable ? usedByAnswer(call, reported, written) : reported
  return written.events === 0 ? estimateCut(call, reported) : estimateTokens(call, reported, written)
}

/**
 * The same for an answer that came as events, or whose text was counted. An answer that has text but reports no output is estimated, not
 * free.
 */
function usedByAnswer(call: Call, reported: TokenUsage | null, written: WrittenAnswer): TokenUsage | null {
  if (reported === null || (reported.output === 0 && call.inspection.outputLimit !== 0))
    return estimateTokens(call, reported, written)
  return withPrompt(call, reported)
}

/** Some servers report no tokens for the prompt, or none for a cached one, although the model has read it. */
function withPrompt({ inputTokens }: Call, reported: TokenUsage): TokenUsage {
  return reported.input > 0 ? reported : { ...reported, input: inputTokens, source: 'estimated' }
}

/**
 * Tokens of an answer that was cut off, or whose usage was not reported: the report if there is one, else an estimate if content was sent.
 * A report from the beginning of a stream does not cover what follows.
 */
export function estimateTokens(call: Call, reported: TokenUsage | null, written: WrittenAnswer): TokenUsage | null {
  const { events, tokens } = written
  const output = reported?.output ?? 0
  // An answer that only shows an earlier one was counted before, and background work counts when it ends.
  if (events === 0 || call.match.endpoint.reportsUsage === 'end') return reported
  return {
    input: reported?.input || call.inputTokens,
    output: output * 2 < tokens ? tokens : Math.max(output, events),
    cache_read: reported?.cache_read ?? 0,
    cache_write: reported?.cache_write ?? 0,
    reasoning: reported?.reasoning ?? 0,
    source: 'estimated',
  }
}
