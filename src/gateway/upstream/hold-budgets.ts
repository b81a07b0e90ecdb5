import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import { nanoOfUsd, usdOfNano } from '../../core/cost/money.ts'
import type { Fault } from '../../core/errors.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { RequestRecord, Signal, TokenUsage } from '../../core/record.ts'
import { doubtedFrom } from '../../lanes/usage.ts'
import {
  type BudgetHold,
  type BudgetNeed,
  type BudgetRefusal,
  bookedOf,
  type Moment,
  type RaisedBudgets,
} from '../../policy/limits/budget-counters.ts'
import { type LongestAnswer, type RefusalFacts, refusedByBudget } from '../../policy/limits/budget-faults.ts'
import {
  type Expected,
  increment,
  needOf,
  smallestIncrement,
  unboundedAnswer,
} from '../../policy/limits/expected-use.ts'
import type { LimitCounters, LimitHold } from '../../policy/limits/limit-counters.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import type { EarlierParts } from '../request/trace.ts'
import { capLength, capToRoom } from './cap-to-room.ts'
import { expectTarget, type Priced, unbounded } from './expect-target.ts'
import { longestFitting, spentFor } from './longest-answer.ts'
import { askLater, raise, raiseAsking, sharing } from './raise-budgets.ts'

/**
 * Runs after the plan, before anything is journaled or sent: holds the most that the first target can cost. Null: the request may be sent.
 * Waits only if nodes share budgets.
 */
export function holdBudgets(call: Call, { candidates }: Plan): Fault | null | Promise<Fault | null> {
  const [first] = candidates
  const { gateway, arrival } = call
  if (gateway.limits.sharesBudgets) return holdFirstShared(call, first)
  return first === undefined || !mayHold(call) ? null : holdFirst(call, first, arrival.receivedAt)
}

/** A call that names no model asks none. The exception is a run, whose model may be defined elsewhere. */
function mayHold({ inspection, match }: Call): boolean {
  return inspection.model !== null || match.endpoint.startedWork !== undefined
}

export function holdFirst(call: Call, target: Priced, now: number): Fault | null {
  const hold = budgetsOf(call.arrival)
  if (hold === null) return null
  // Each budget may cap the answer once. If one still refuses, other requests are using it up at the same time.
  for (let caps = 0; ; caps++) {
    const expected = expectFirst(call, hold, target)
    if ('code' in expected) return expected
    const refusal = holdWhatFits(call.gateway.limits, hold, expected, momentOf(call, now))
    askLater(call, refusal)
    if (caps === hold.limits.length || !capToRoom(call, refusal, expected))
      return concludeFirst(call, hold, target, expected, refusal)
  }
}

async function holdFirstShared(call: Call, target: Priced | undefined): Promise<Fault | null> {
  const hold = budgetsOf(call.arrival)
  if (hold === null || target === undefined) return null
  const { gateway, arrival } = call
  const moment = momentOf(call, arrival.receivedAt)
  if (!mayHold(call)) {
    // Turns of a connection take their holds while frames pass, and frames do not wait.
    await gateway.limits.askAllowances(hold.limits, hold.user, moment)
    return null
  }
  for (let caps = 0; ; caps++) {
    const expected = expectFirst(call, hold, target)
    if ('code' in expected) return expected
    const refusal = await (await sharing()).holdShared(gateway.limits, hold, expected, moment)
    if (caps === hold.limits.length || !capToRoom(call, refusal, expected))
      return concludeFirst(call, hold, target, expected, refusal)
  }
}

const momentOf = ({ gateway }: Call, now: number): Moment => ({ timeZone: gateway.model.configuration.timeZone, now })

function expectFirst(call: Call, hold: LimitHold, target: Priced): Expected | Fault {
  let expected = expectTarget(call, target)
  if (expected === unbounded && capLength(call, hold.limits)) expected = expectTarget(call, target)
  if (expected === unbounded) {
    const spent = spentFor(call, hold, target)
    if (spent !== null) return refuse(call, spent, null)
    expected = unboundedAnswer(longestFitting(call, hold, target))
  }
  if ('code' in expected) call.trace.policySignals.push(uncountedSignal(expected))
  return expected
}

function concludeFirst(
  call: Call,
  hold: LimitHold,
  target: Priced,
  expected: Expected,
  refusal: BudgetRefusal | null,
): Fault | null {
  if (refusal !== null)
    return refuse(call, refusal, refusal.why === 'spent' ? longestFitting(call, hold, target) : null)
  const { input, output, grows, price, beside } = expected
  hold.heldFor = { input, output, target, limited: (call.outputCap ?? call.inspection.outputLimit) !== null }
  if (grows) call.openHold = { held: output, price, input, beside }
  warn(call, hold)
  return null
}

/** Holds what is expected. For a stream without an output limit it lowers `expected.output` until it fits. Null: it is held. */
export function holdWhatFits(
  limits: LimitCounters,
  hold: LimitHold,
  expected: Expected,
  moment: Moment,
): BudgetRefusal | null {
  for (;;) {
    const refusal = limits.holdBudgets(hold, needOf(expected, expected.output), moment)
    if (refusal === null || !expected.grows || expected.output / 2 < smallestIncrement) return refusal
    expected.output = Math.floor(expected.output / 2)
  }
}

/**
 * Called before a more expensive target, or one after a target that was charged. False: the budgets have no room for it. The new hold is
 * journaled before anything is sent. `beside`: another target that is asked at the same time.
 */
export function raiseForTarget(
  call: Call,
  candidate: Candidate,
  beside: Candidate | null = null,
): boolean | Promise<boolean> {
  const hold = budgetsOf(call.arrival)
  if (hold === null || hold.budgets.length === 0) return true
  if (beside === null && hold.heldFor?.target === candidate && call.trace.attempts.length === 0) return true
  const need = { usd: nanoOf(spentOn(call)), tokens: 0 }
  const sum = { input: 0, output: 0 }
  let dearest: { usd: bigint; expected: Expected } | null = null
  for (const each of beside === null ? [candidate] : [candidate, beside]) {
    const expected = expectTarget(call, each)
    if ('code' in expected) return false
    const output = call.openHold?.held ?? expected.output
    const own = needOf(expected, output)
    need.usd += own.usd
    need.tokens += own.tokens
    sum.input += expected.input
    sum.output += output
    if (dearest === null || own.usd > dearest.usd) dearest = { usd: own.usd, expected }
  }
  return raiseTo(call, hold, need, sum, () => {
    // Of two that run at once either may be the one that streams.
    if (call.openHold === null || dearest === null) return
    const { price, input, beside: tools } = dearest.expected
    call.openHold = { ...call.openHold, price, input, beside: tools }
  })
}

/** What is held then stands in the journal as so many tokens. `raised`: there was room for it. */
function raiseTo(
  call: Call,
  hold: LimitHold,
  need: BudgetNeed,
  tokens: { input: number; output: number },
  raised: () => void,
): boolean | Promise<boolean> {
  const conclude = (outcome: RaisedBudgets | BudgetRefusal) => {
    if ('why' in outcome) return false
    raised()
    return outcome.more ? journalHeld(call, hold, tokens).then(() => true) : true
  }
  return call.gateway.limits.sharesBudgets
    ? raiseAsking(call, hold, need).then(conclude)
    : conclude(raise(call, hold, need))
}

/**
 * Called before asking a provider for the rest of an answer in which it paused. `rest`: the size of that request, and the output tokens
 * left. False: the budgets, or the limits of the account, have no room for it.
 */
export function raiseForRest(
  call: Call,
  candidate: Candidate,
  earlier: EarlierParts,
  rest: { bytes: number; output: number },
): boolean | Promise<boolean> {
  const { arrival, openHold } = call
  if (arrival.accounts?.takeTurn(rest.bytes) != null) return false
  const hold = budgetsOf(arrival)
  if (hold === null && arrival.accounts === null) return true
  const expected = expectTarget(call, candidate)
  if ('code' in expected) return false
  const input = Math.ceil(rest.bytes / bytesPerToken)
  const output = openHold?.held ?? Math.min(expected.output, rest.output)
  const before = { usd: nanoOf(earlier.cost?.usd ?? 0), tokens: tokensOf(earlier.tokens) }
  const own = needOf({ ...expected, input }, output)
  const need = { usd: own.usd + before.usd + nanoOf(spentOn(call)), tokens: own.tokens + before.tokens }
  if (arrival.accounts?.raise(need) != null) return false
  const all = { input: input + (earlier.tokens?.input ?? 0), output: output + (earlier.tokens?.output ?? 0) }
  const raised = () => {
    if (openHold !== null) call.openHold = { ...openHold, input, before }
  }
  if (hold !== null) return raiseTo(call, hold, need, all, raised)
  raised()
  return true
}

export const tokensOf = (tokens: TokenUsage | null) => (tokens === null ? 0 : tokens.input + tokens.output)

/** Called as a stream without an output limit grows: `counted` tokens so far, and what the provider has reported. Null: it may go on. */
export function extendHold(call: Call, counted: number, reported = 0): Fault | null {
  const { openHold: open, arrival } = call
  const written = reported > doubtedFrom ? counted : Math.max(counted, reported)
  if (open === null || written * 2 < open.held) return null
  const hold = budgetsOf(arrival)
  if (hold === null && arrival.accounts === null) return null
  const most = open.price?.max_output ?? Number.POSITIVE_INFINITY
  for (let more = increment; ; more = Math.floor(more / 2)) {
    // No model writes more than its maximum.
    const wanted = Math.min(written + more, Math.max(most, written))
    // The present hold still covers it.
    if (wanted <= open.held) return null
    const own = needOf(open, wanted)
    const need = { usd: own.usd + (open.before?.usd ?? 0n), tokens: own.tokens + (open.before?.tokens ?? 0) }
    const raised = hold === null ? null : raise(call, hold, { ...need, usd: need.usd + nanoOf(spentOn(call)) })
    const refusal = raised !== null && 'why' in raised ? raised : null
    const crowded = refusal === null ? (arrival.accounts?.raise(need) ?? null) : null
    if (refusal === null && crowded === null) {
      open.held = wanted
      // Not awaited: what is written in this turn is covered by the hold before.
      if (hold !== null && raised !== null && 'more' in raised && raised.more)
        void journalHeld(call, hold, { input: open.input, output: wanted })
      return null
    }
    if (more > 1) continue
    if (refusal === null) return crowded
    return refuse(call, { ...refusal, why: refusal.why === 'over' ? 'over' : 'spent' }, null)
  }
}

/** `actual`: what the request came to, if it holds nothing more. */
export function journalHeld(
  call: Call,
  { budgets }: LimitHold,
  { input, output }: { input: number; output: number },
  actual: BudgetNeed | null = null,
) {
  const tokens = estimatedTokens(input, output)
  const hold = [...bookedOf(budgets, actual), ...(call.arrival.accounts?.held() ?? [])]
  return call.gateway.journal.append({ kind: 'held', id: call.id, hold, tokens })
}

/** The cost of the attempts that were charged, in USD. */
function spentOn({ trace }: Call): number {
  return trace.attempts.reduce((sum, { cost }) => sum + (cost?.usd ?? 0), 0)
}

export const nanoOf = (usd: number): bigint => BigInt(nanoOfUsd(usd))

/** For the admitted entry: what the store charges if the request never settles. */
export function heldBudgets({ limits }: Arrival): readonly BookedAmount[] | null {
  const budgets = limits?.hold?.budgets ?? []
  return budgets.length === 0 ? null : bookedOf(budgets, null)
}

/**
 * What the request came to, for its settled entry and for the counters, which book it when the hold is released. The excess over the hold
 * is on the record as `estimate_error`.
 */
export function settleBudgets(arrival: Arrival, record: RequestRecord): readonly BookedAmount[] | null {
  const hold = arrival.limits?.hold ?? null
  if (hold === null || hold.budgets.length === 0) return null
  const { tokens, cost } = record
  const actual = { usd: nanoOf(cost?.usd ?? 0), tokens: tokensOf(tokens) }
  const held = hold.budgets.find(({ limit }) => limit.kind === 'usd')
  if (keepForWork(arrival, record)) {
    hold.actual = 'kept'
    return []
  }
  const error = held === undefined ? 0n : excessOf(held, actual.usd)
  if (error > 0n) record.estimate_error = usdOfNano(error)
  hold.actual = actual
  return bookedOf(hold.budgets, actual)
}

/** By how much `total`, which includes what was booked before, exceeds the hold. */
export function excessOf({ held, booked, exceeded = 0n }: BudgetHold, total: bigint): bigint {
  const excess = total - booked - held
  return excess > 0n ? exceeded + excess : exceeded
}

/** Background work keeps the call's hold until its usage is known. */
function keepForWork({ gateway, objects, limits }: Arrival, record: RequestRecord): boolean {
  const { budgets = [], heldFor = null } = limits?.hold ?? {}
  const { lane, provider, model, upstream_model: upstream, id: requestId, time } = record
  const { started = null, earlier = null } = objects ?? {}
  if (started === null || lane === null || record.tokens !== null) return false
  const { type, id: batchId } = started.work
  const { input, output, limited = false } = heldFor ?? { input: 0, output: 0 }
  void gateway.journal.append({
    ...(earlier?.held ? { ...earlier.held, step: { input } } : { model: upstream || model }),
    ...{ kind: 'batch-held', type, requestId, time, batchId, lane, provider },
    owner: started.owner,
    hold: bookedOf(budgets, null),
    tokens: estimatedTokens(input + (earlier?.held?.tokens.input ?? 0), output + (earlier?.held?.tokens.output ?? 0)),
    ...(limited ? { limited: true } : {}),
  })
  return true
}

/** Null: no budget applies. */
export function budgetsOf({ limits }: Arrival): LimitHold | null {
  const hold = limits?.hold ?? null
  return hold?.limits.some(({ period }) => period !== null) === true ? hold : null
}

/** The signal for a request that budgets cannot count; it stands with the policy's other verdicts. */
export function uncountedSignal({ message }: Fault): Signal {
  return { rule: 'budget', verdict: 'deny', text: message }
}

export function refuse({ trace }: Call, refusal: RefusalFacts, longest: LongestAnswer | null): Fault {
  const { fault: reason, signal } = refusedByBudget(refusal, longest)
  trace.policySignals.push(signal)
  return reason
}

/** Notes on the record that a budget which only warns is exceeded. */
function warn(call: Call, hold: LimitHold): void {
  const { gateway, trace, arrival } = call
  const moment = momentOf(call, arrival.receivedAt)
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
