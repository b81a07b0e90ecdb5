import type { AskedTools } from '../../core/cost/asked-tools.ts'
import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import type { Fault } from '../../core/errors.ts'
import type { TokenUsage } from '../../core/record.ts'
import { amountOf, type BudgetNeed, type BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import { type AskedRates, dearestOf, increment, needOf, smallestIncrement } from '../../policy/limits/expected-use.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import type { Call } from '../request/call.ts'
import { expectTarget, type Priced } from '../upstream/expect-target.ts'
import {
  budgetsOf,
  excessOf,
  holdFirst,
  journalHeld,
  nanoOf,
  refuse,
  tokensOf,
  uncountedSignal,
} from '../upstream/hold-budgets.ts'
import { askLater, raise } from '../upstream/raise-budgets.ts'

/** What earlier turns of a connection came to, whether some are still running, and which models may answer in any of them. */
export interface EarlierTurns {
  used: TokenUsage | null
  running: boolean
  models: readonly string[]
  /** The dearest rates that any of them asks for. */
  rates: AskedRates | null
  /** What this turn and those that are running let tools of the provider do. */
  tools: AskedTools | null
}

/**
 * Holds for one more turn: what earlier turns came to, what running ones hold, and an increment for this one. Returns the output tokens
 * held for it.
 */
export function holdTurn(
  call: Call,
  { used, running, models, rates, tools }: EarlierTurns,
  bytes: number,
  provider: Priced['provider'],
): Fault | number {
  const { arrival, trace } = call
  const hold = budgetsOf(arrival)
  if (hold === null) return 0
  const asked = { rates, tools }
  const dearest = dearestOf(models.map((upstreamModel) => expectTarget(call, { provider, upstreamModel }, asked)))
  if ('code' in dearest) return refuseUncounted(call, dearest)
  const { price, beside: byTools } = dearest
  // The model was not known when the connection was opened.
  const isFirst = hold.budgets.length === 0
  const own = { provider, upstreamModel: call.trace.upstreamModel ?? '' }
  const refused = isFirst ? holdFirst(call, own, Date.now()) : holdAdded(call, hold)
  if (refused !== null) return refused
  const before = { usd: nanoOf(trace.turnsCost?.usd ?? 0), tokens: tokensOf(used) }
  const beside = running ? call.openHold : null
  const input = (beside?.input ?? 0) + Math.ceil(bytes / bytesPerToken)
  for (let output = increment; ; output = Math.floor(output / 2)) {
    const held = (beside?.held ?? 0) + output
    const turns = needOf({ price, input, beside: byTools }, held)
    const raised = raise(call, hold, { usd: before.usd + turns.usd, tokens: before.tokens + turns.tokens })
    if (!('why' in raised)) {
      void journalHeld(call, hold, { input: (used?.input ?? 0) + input, output: (used?.output ?? 0) + held })
      // A new object, because another turn has begun (`bookTurns`).
      call.openHold = { price, input, held, beside: byTools, before }
      return output
    }
    if (output / 2 >= smallestIncrement) continue
    const booked = hold.budgets.find(({ limit }) => limit === raised.limit)?.booked ?? 0n
    const others = beside === null ? nothing : needOf({ ...beside, price }, beside.held)
    return refuse(call, afterTurns(raised, { before, others, booked }), null)
  }
}

/**
 * What a model beside the one that answers has come to, with all that was `used` until now. Null: the budgets have room for it, and for
 * what runs.
 */
export function holdBeside(call: Call, used: TokenUsage | null, provider: Priced['provider']): Fault | null {
  const { arrival, trace } = call
  const hold = budgetsOf(arrival)
  if (hold === null) return null
  const own = { provider, upstreamModel: trace.upstreamModel ?? '' }
  const refused = hold.budgets.length === 0 ? holdFirst(call, own, Date.now()) : null
  if (refused !== null) return refused
  const before = { usd: nanoOf(trace.turnsCost?.usd ?? 0), tokens: tokensOf(used) }
  const open = call.openHold
  if (open !== null) call.openHold = { ...open, before }
  const running = open === null ? nothing : needOf(open, open.held)
  const raised = raise(call, hold, { usd: before.usd + running.usd, tokens: before.tokens + running.tokens })
  if ('why' in raised) return refuse(call, { ...raised, why: raised.why === 'over' ? 'over' : 'spent' }, null)
  const { input = 0, held: output = 0 } = open ?? {}
  if (raised.more)
    void journalHeld(call, hold, { input: (used?.input ?? 0) + input, output: (used?.output ?? 0) + output })
  return null
}

/**
 * A turn has ended. What all came to is used from here on, unless the next has begun when that is written: should the thread die
 * before, the counter has what was held, which is more. `isBusy`: whether one runs.
 */
export async function bookTurns(call: Call, used: TokenUsage | null, isBusy: () => boolean): Promise<void> {
  const { arrival, trace, openHold, gateway } = call
  const hold = budgetsOf(arrival)
  if (hold === null || hold.budgets.length === 0) return
  const actual = { usd: nanoOf(trace.turnsCost?.usd ?? 0), tokens: tokensOf(used) }
  await journalHeld(call, hold, used ?? estimatedTokens(0, 0), actual)
  if (call.openHold !== openHold || isBusy()) return
  for (const each of hold.budgets) each.exceeded = excessOf(each, amountOf(each.limit, actual))
  gateway.limits.bookTurns(hold, actual)
}

/** Budgets that were added since the connection was opened: how much they hold is raised with those from before. */
function holdAdded(call: Call, hold: LimitHold): Fault | null {
  const limits = hold.limits.filter(
    ({ period, counter }) => period !== null && !hold.budgets.some(({ limit }) => limit.counter === counter),
  )
  if (limits.length === 0) return null
  const added: LimitHold = { ...hold, limits, budgets: [] }
  const moment = { timeZone: call.gateway.model.configuration.timeZone, now: Date.now() }
  const refusal = call.gateway.limits.holdBudgets(added, nothing, moment)
  askLater(call, refusal)
  if (refusal !== null) return refuse(call, refusal, null)
  hold.budgets.push(...added.budgets)
  return null
}

function refuseUncounted({ trace }: Call, reason: Fault): Fault {
  if (!trace.policySignals.some(({ text }) => text === reason.message))
    trace.policySignals.push(uncountedSignal(reason))
  return reason
}

const nothing: BudgetNeed = { usd: 0n, tokens: 0 }

interface BesideTurn {
  before: BudgetNeed
  /** What running turns hold. */
  others: BudgetNeed
  booked: bigint
}

/** Usage of earlier turns that is not booked yet is still part of the hold, and will not be released; what others hold will. */
function afterTurns(refusal: BudgetRefusal, { before, others, booked }: BesideTurn): BudgetRefusal {
  const { limit, need, use, most, why } = refusal
  const used = amountOf(limit, before) - booked
  const own = need - used - amountOf(limit, others)
  const isHeld = why === 'spent' && Number(own) <= most - use.used - Number(used)
  return {
    ...refusal,
    need: own,
    use: { ...use, used: use.used + Number(used), held: Math.max(0, use.held - Number(used)) },
    why: isHeld ? 'held' : why,
  }
}
