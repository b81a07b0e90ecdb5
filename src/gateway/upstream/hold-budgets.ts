import { type Fault, fault } from '../../core/errors.ts'
import { bytesPerToken } from '../../core/estimated-tokens.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { ModelPrice } from '../../core/model-price.ts'
import { usdOfNano } from '../../core/money.ts'
import type { RequestRecord, TokenUsage } from '../../core/record.ts'
import { type BudgetNeed, type BudgetRefusal, bookedOf } from '../../policy/limits/budget-counters.ts'
import { refusedByBudget } from '../../policy/limits/budget-faults.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { costOf } from '../../policy/prices/cost.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'

/** What a target may make of a call: its price, and how many tokens it may write. */
interface Expected {
  /** null: nothing is charged there. */
  price: ModelPrice | null
  input: number
  output: number
  /** The client set no limit and the answer streams: `output` is extended while it does. */
  grows: boolean
}

/** Output tokens that a stream without a limit holds at a time; the first may shrink to what fits. */
const increment = 1024
const smallestIncrement = 64
const nanoPerUsd = 1e9

/** After the plan and before anything is journaled or sent: holds what the first target may come to. Null: it may be sent. */
export function holdBudgets(call: Call, { candidates }: Plan): Fault | null {
  const hold = budgetsOf(call.arrival)
  const [first] = candidates
  if (hold === null || first === undefined || call.inspection.model === null) return null
  const expected = expect(call, first)
  if ('code' in expected) return expected
  const moment = { timeZone: call.gateway.model.configuration.timeZone, now: call.arrival.receivedAt }
  for (;;) {
    const refusal = call.gateway.limits.holdBudgets(hold, needOf(expected, expected.output), moment)
    if (refusal === null) break
    if (!expected.grows || expected.output / 2 < smallestIncrement) return refuse(call, refusal, expected)
    expected.output = Math.floor(expected.output / 2)
  }
  if (expected.grows) call.openHold = { held: expected.output, price: expected.price, input: expected.input }
  warn(call, hold)
  return null
}

/**
 * Before a dearer target is tried, or one after a target that was charged: false where the budgets have no room for it. `beside`: what
 * another target comes to that is asked at the same time.
 */
export function raiseForTarget(call: Call, candidate: Candidate, beside: Candidate | null = null): boolean {
  const hold = budgetsOf(call.arrival)
  if (hold === null || hold.budgets.length === 0) return true
  const need = { usd: 0n, tokens: 0 }
  for (const each of beside === null ? [candidate] : [candidate, beside]) {
    const expected = expect(call, each)
    if ('code' in expected) return false
    const own = needOf(expected, call.openHold?.held ?? expected.output)
    need.usd += own.usd
    need.tokens += own.tokens
  }
  const spent = call.trace.attempts.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0)
  const usd = need.usd + BigInt(Math.round(spent * nanoPerUsd))
  return call.gateway.limits.raiseBudgets(hold, { ...need, usd }) === null
}

/** A stream without a limit has written so many tokens. Null: it may go on. */
export function extendHold(call: Call, written: number): Fault | null {
  const { openHold: open, arrival, gateway } = call
  if (open === null || written * 2 < open.held) return null
  const hold = budgetsOf(arrival)
  if (hold === null) return null
  for (let more = increment; ; more = Math.floor(more / 2)) {
    const wanted = written + more
    // What is held may still be written.
    if (wanted <= open.held) return null
    const refusal = gateway.limits.raiseBudgets(hold, needOf(open, wanted))
    if (refusal === null) {
      open.held = wanted
      return null
    }
    if (more > 1) continue
    const { fault: reason, signal } = refusedByBudget({ ...refusal, why: 'spent' }, null)
    call.trace.policySignals.push(signal)
    return reason
  }
}

/** One more turn of a connection: what was used, and a increment for the turn. Null: it may begin. */
export function holdTurn(call: Call, used: TokenUsage | null, frame: Buffer): Fault | null {
  const { openHold: open, arrival, gateway } = call
  const hold = budgetsOf(arrival)
  if (open === null || hold === null) return null
  const input = (used?.input ?? 0) + Math.ceil(frame.length / bytesPerToken)
  const refusal = gateway.limits.raiseBudgets(hold, needOf({ ...open, input }, (used?.output ?? 0) + smallestIncrement))
  if (refusal === null) return null
  const { fault: reason, signal } = refusedByBudget(refusal, null)
  call.trace.policySignals.push(signal)
  return reason
}

/** For the admitted entry: what the store charges if the request never settles. */
export function heldBudgets({ limits }: Arrival): readonly BookedAmount[] | null {
  const budgets = limits?.hold?.budgets ?? []
  return budgets.length === 0 ? null : bookedOf(budgets, null)
}

/**
 * What the request came to, for its settled entry, and for the counters, which take it from the hold when that is released.
 * What went beyond the hold stands on the record as `estimate_error`.
 */
export function settleBudgets({ limits }: Arrival, record: RequestRecord): readonly BookedAmount[] | null {
  const hold = limits?.hold ?? null
  if (hold === null || hold.budgets.length === 0) return null
  const { tokens, cost } = record
  const actual = {
    usd: BigInt(Math.round((cost?.usd ?? 0) * nanoPerUsd)),
    tokens: tokens === null ? 0 : tokens.input + tokens.output,
  }
  const held = hold.budgets.find(({ limit }) => limit.kind === 'usd')?.held
  if (held !== undefined && actual.usd > held) record.estimate_error = usdOfNano(actual.usd - held)
  hold.actual = actual
  return bookedOf(hold.budgets, actual)
}

/** Null: no budget applies. */
function budgetsOf({ limits }: Arrival): LimitHold | null {
  const hold = limits?.hold ?? null
  return hold?.limits.some(({ period }) => period !== null) === true ? hold : null
}

function expect(call: Call, { provider, upstreamModel }: Candidate): Expected | Fault {
  const { gateway, inspection, match, body, outputCap } = call
  const live = gateway.model.configuration.providers.get(provider.id)
  const isFree = live === undefined || live.kind.transport !== null
  const found = isFree
    ? null
    : gateway.model.prices.find({ provider: live.row.name, vendor: live.vendor, model: upstreamModel })
  // What a policy says of models without a price holds here too: a rate, or that they may be used uncounted.
  const { unpriced } = call.arrival
  const price = isFree ? null : (found ?? unpriced?.price ?? null)
  const { usesTokens, outputLimits } = match.endpoint
  if (!isFree && price === null && unpriced === null && usesTokens && countsUsd(call)) return noPrice(upstreamModel)
  const input = usesTokens ? Math.ceil(body.bytes.length / bytesPerToken) : 0
  if (match.endpoint.socket !== null) return { price, input, output: increment, grows: true }
  if (outputLimits === undefined) return { price, input, output: 0, grows: false }
  const asked = outputCap ?? inspection.outputLimit
  const most = price?.max_output ?? null
  if (asked !== null) return { price, input, output: most === null ? asked : Math.min(asked, most), grows: false }
  if (inspection.streamed) return { price, input, output: Math.min(increment, most ?? increment), grows: true }
  if (most === null && !isFree) return unbounded()
  return { price, input, output: most ?? increment, grows: false }
}

const countsUsd = ({ arrival }: Call): boolean =>
  arrival.limits?.hold?.limits.some(({ kind, warns }) => kind === 'usd' && !warns) === true

function noPrice(model: string): Fault {
  const message = `The model ${model} has no price, so a budget in USD cannot count it; ask the operator to set one (spgw prices set).`
  return fault('policy_denied', message, { param: 'model' })
}

function unbounded(): Fault {
  const message =
    'Nobody knows how long the answer may get, and a budget applies: set max_tokens, or stream the answer.'
  return fault('policy_denied', message, { param: 'max_tokens' })
}

/** At least one unit, so that a budget that is used up lets nothing pass whose use nobody can tell. */
function needOf({ price, input }: Pick<Expected, 'price' | 'input'>, output: number): BudgetNeed {
  return { usd: price === null ? 0n : holdOf(price, input, output) || 1n, tokens: Math.max(1, input + output) }
}

function holdOf(price: ModelPrice, input: number, output: number): bigint {
  const tokens = { input, output, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' } as const
  return costOf({ tokens, detail: null }, price) ?? 0n
}

function refuse({ trace }: Call, refusal: BudgetRefusal, expected: Expected): Fault {
  const { fault: reason, signal } = refusedByBudget(refusal, fitting(refusal, expected))
  trace.policySignals.push(signal)
  return reason
}

/** The most output tokens whose hold fits into what is not used. */
function fitting({ limit, most, use }: BudgetRefusal, { price, input, output }: Expected): number | null {
  const room = most - use.used
  if (output === 0) return null
  if (limit.kind === 'tokens') return room - input
  if (price === null) return null
  const without = Number(holdOf(price, input, 0))
  const each = (Number(holdOf(price, input, output)) - without) / output
  return each <= 0 ? null : Math.floor((room - without) / each)
}

/** A budget that only warns says so on the record. */
function warn({ gateway, trace, arrival }: Call, hold: LimitHold): void {
  const moment = { timeZone: gateway.model.configuration.timeZone, now: arrival.receivedAt }
  for (const { limit, most } of hold.budgets) {
    if (!limit.warns) continue
    const { used, held } = gateway.limits.budgetUse(limit, moment, hold.user)
    if (used + held <= most) continue
    const text = `The budget of the policy ${limit.policy} for ${limit.scope} is exceeded; it only warns.`
    trace.policySignals.push({
      rule: 'budget',
      verdict: 'flag',
      text,
      data: { policy: limit.policy, scope: limit.scope },
    })
  }
}
