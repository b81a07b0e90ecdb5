import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import type { Fault } from '../../core/errors.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { Limit } from '../../core/policies/policy-limits.ts'
import type { AttemptRecord, RequestRecord, TokenUsage } from '../../core/record.ts'
import { type BudgetNeed, bookedOf } from '../../policy/limits/budget-counters.ts'
import { refusedByBudget } from '../../policy/limits/budget-faults.ts'
import { type Expected, noPrice, unboundedAnswer } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { refusedByLimit } from '../../policy/limits/limit-faults.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'
import type { HeldAccounts } from '../request/held-accounts.ts'
import { amountsOf } from '../request/take-limits.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import { expectEach, expectTarget, unbounded } from './expect-target.ts'
import { holdWhatFits, nanoOf, refuse, tokensOf } from './hold-budgets.ts'
import { longestFitting, spentFor } from './longest-answer.ts'
import { followLimits } from './raise-budgets.ts'

/** What one attempt takes from the limits of the account that it uses. */
interface AccountUse {
  candidate: Candidate
  hold: LimitHold
  /** The attempt that is charged; null until it was sent. */
  attempt: AttemptRecord | null
}

const nothing: BudgetNeed = { usd: 0n, tokens: 0 }

/**
 * What a request takes from the limits of accounts at providers. Every attempt counts there: a retry or a fallback is one more request. An
 * attempt that fails releases at once the tokens and money that it did not use; what the others used is settled with the request.
 */
export class AccountHolds implements HeldAccounts {
  readonly #call: Call
  readonly #uses: AccountUse[] = []
  readonly #booked: BookedAmount[] = []
  /** Taken for the first attempt before the admitted entry was journaled. */
  #prepared: AccountUse | null = null
  /** What the admitted entry states as held. */
  #announced: readonly BookedAmount[] = []

  constructor(call: Call) {
    this.#call = call
  }

  /** Takes what the first target needs, so that the admitted entry states what is held. */
  prepare(candidate: Candidate): void {
    const provider = this.#call.gateway.model.configuration.providers.get(candidate.provider.id)
    if (provider === undefined || provider.limits === null) return
    const taken = this.#take(candidate, provider, provider.limits)
    if (!('hold' in taken)) return
    this.#prepared = taken
    this.#announced = bookedOf(taken.hold.budgets, null)
  }

  take(candidate: Candidate, provider: LiveProvider): Fault | null {
    const prepared = this.#prepared
    this.#prepared = null
    if (prepared?.candidate === candidate) {
      this.#uses.push(prepared)
      return null
    }
    if (prepared !== null) this.#call.gateway.limits.cancel(prepared.hold)
    if (provider.limits === null) return null
    const taken = this.#take(candidate, provider, provider.limits)
    if (!('hold' in taken)) return taken
    this.#uses.push(taken)
    return null
  }

  began(attempt: AttemptRecord | undefined): void {
    const use = this.#uses.at(-1)
    if (use !== undefined && use.attempt === null) use.attempt = attempt ?? null
  }

  replaced(attempt: AttemptRecord, by: AttemptRecord | undefined): void {
    const use = this.#uses.find((one) => one.attempt === attempt)
    if (use !== undefined) use.attempt = by ?? null
  }

  ended(attempt: AttemptRecord | undefined): void {
    const index = this.#uses.findIndex((use) => use.attempt === attempt)
    const [use] = index < 0 ? [] : this.#uses.splice(index, 1)
    if (use === undefined) return
    const { cutTokens } = this.#call.trace
    this.#settle(use, tokensOf(cutTokens))
    this.#release(use)
  }

  raise(need: BudgetNeed): Fault | null {
    const { providers } = this.#call.gateway.model.configuration
    for (const { hold, candidate } of this.#uses) {
      followLimits(hold, providers.get(candidate.provider.id)?.limits ?? null)
      const raised = this.#call.gateway.limits.raiseBudgets(hold, need, Date.now())
      if ('why' in raised) return refuse(this.#call, { ...raised, why: 'spent' }, null)
    }
    return null
  }

  takeTurn(bytes: number): Fault | null {
    const { gateway, trace } = this.#call
    for (const { hold } of this.#uses) {
      const tokens = Math.ceil(bytes / bytesPerToken)
      const refusal = gateway.limits.admitTurn(hold, { requests: 1, tokens })
      if (refusal === null) continue
      const { fault: reason, signal } = refusedByLimit(refusal)
      trace.policySignals.push(signal)
      return reason
    }
    return null
  }

  correctTurns(tokens: TokenUsage | null): void {
    if (tokens === null) return
    for (const { hold } of this.#uses) this.#call.gateway.limits.correctTokens(hold, tokens.input + tokens.output)
  }

  held(): readonly BookedAmount[] {
    const prepared = this.#prepared === null ? [] : [this.#prepared]
    return [...prepared, ...this.#uses].flatMap(({ hold }) => bookedOf(hold.budgets, null))
  }

  settle({ tokens, status }: RequestRecord): readonly BookedAmount[] {
    const used = tokens === null ? ((status ?? 0) >= 400 && status !== 499 ? 0 : null) : tokens.input + tokens.output
    for (const use of this.#uses) this.#settle(use, used)
    // The admitted entry announced a hold, so it must be booked as 0 even if nothing was used.
    if (this.#booked.length === 0) return this.#announced.map(([counter, period]) => [counter, period, 0])
    return this.#booked
  }

  release(): void {
    for (const use of this.#uses.splice(0)) this.#release(use)
    if (this.#prepared !== null) this.#call.gateway.limits.cancel(this.#prepared.hold)
    this.#prepared = null
  }

  /** `tokens` null: unknown, so the estimate stands. */
  #settle({ hold, attempt }: AccountUse, tokens: number | null): void {
    if (tokens !== null) this.#call.gateway.limits.correctTokens(hold, tokens)
    hold.actual = { usd: nanoOf(attempt?.cost?.usd ?? 0), tokens: tokens ?? 0 }
    this.#booked.push(...bookedOf(hold.budgets, hold.actual))
  }

  #release({ hold }: AccountUse): void {
    hold.actual ??= nothing
    this.#call.gateway.limits.release(hold)
  }

  #take(candidate: Candidate, provider: LiveProvider, limits: readonly Limit[]): AccountUse | Fault {
    const { gateway, arrival } = this.#call
    const countsUsd = limits.some(({ kind }) => kind === 'usd')
    const expected = countsUsd ? this.#expect(candidate, provider) : null
    const budgets = { limits, user: null, forAccount: true }
    if (expected === unbounded) {
      const spent = spentFor(this.#call, budgets, candidate)
      if (spent !== null) return refusedByBudget(spent, null).fault
      return unboundedAnswer(longestFitting(this.#call, budgets, candidate))
    }
    if (expected !== null && 'code' in expected) return expected
    const taken = gateway.limits.admit(limits, null, amountsOf(this.#call))
    if (!('taken' in taken)) return refusedByLimit(taken).fault
    if (expected === null) return { candidate, hold: taken, attempt: null }
    const moment = { timeZone: gateway.model.configuration.timeZone, now: arrival.receivedAt }
    const refusal = holdWhatFits(gateway.limits, taken, expected, moment)
    if (refusal !== null) {
      gateway.limits.cancel(taken)
      const longest = refusal.why === 'spent' ? longestFitting(this.#call, budgets, candidate) : null
      return refusedByBudget(refusal, longest).fault
    }
    // A stream without an output limit holds more as it grows, as under a policy's budget.
    const { grows, output, price, input, beside } = expected
    if (grows && arrival.limits === null) this.#call.openHold = { held: output, price, input, beside }
    return { candidate, hold: taken, attempt: null }
  }

  #expect(candidate: Candidate, provider: LiveProvider): Expected | Fault {
    // The price is checked first: for a model without a price, a limit would not help.
    const { usesTokens } = this.#call.match.endpoint
    const each = expectEach(this.#call, candidate, { forAccount: true, outputCap: 1 })
    if (usesTokens && provider.kind.transport === null && each.some((one) => !('code' in one) && one.price === null))
      return noPrice(candidate.upstreamModel, true)
    return expectTarget(this.#call, candidate, { forAccount: true })
  }
}
