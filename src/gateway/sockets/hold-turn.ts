import type { Fault } from '../../core/errors.ts'
import { bytesPerToken } from '../../core/estimated-tokens.ts'
import type { TokenUsage } from '../../core/record.ts'
import { amountOf, type BudgetNeed, type BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import { increment, needOf, smallestIncrement } from '../../policy/limits/expected-use.ts'
import type { Call } from '../request/call.ts'
import {
  budgetsOf,
  excessOf,
  holdFirst,
  journalHeld,
  nanoOf,
  type Priced,
  raise,
  refuse,
  tokensOf,
} from '../upstream/hold-budgets.ts'

/** One more turn of a connection: what the turns before it came to, and an increment for this one. Null: it may begin. */
export function holdTurn(call: Call, used: TokenUsage | null, bytes: number, target: Priced): Fault | null {
  const { arrival, trace } = call
  const hold = budgetsOf(arrival)
  if (hold === null) return null
  // Its model was not known when it was opened.
  const isFirst = hold.budgets.length === 0
  const refused = isFirst ? holdFirst(call, target, Date.now()) : null
  if (refused !== null) return refused
  const price = call.openHold?.price ?? null
  const before = { usd: nanoOf(trace.turnsCost?.usd ?? 0), tokens: tokensOf(used) }
  const input = Math.ceil(bytes / bytesPerToken)
  for (let output = increment; ; output = Math.floor(output / 2)) {
    const turn = needOf({ price, input }, output)
    const raised = raise(call, hold, { usd: before.usd + turn.usd, tokens: before.tokens + turn.tokens })
    if (!('why' in raised)) {
      const tokens = { input: (used?.input ?? 0) + input, output: (used?.output ?? 0) + output }
      void journalHeld(call, hold, tokens)
      // Another turn has begun (`bookTurns`).
      if (call.openHold !== null) call.openHold = { ...call.openHold }
      return null
    }
    if (output / 2 >= smallestIncrement) continue
    const booked = hold.budgets.find(({ limit }) => limit === raised.limit)?.booked ?? 0n
    return refuse(call, afterTurns(raised, before, booked), null)
  }
}

/**
 * A turn has ended. What all came to is used from here on, unless the next has begun when that is written: should the thread die
 * before, the counter has what was held, which is more. `isBusy`: whether one runs.
 */
export async function bookTurns(call: Call, used: TokenUsage, isBusy: () => boolean): Promise<void> {
  const { arrival, trace, openHold, gateway } = call
  const hold = budgetsOf(arrival)
  if (hold === null || hold.budgets.length === 0) return
  const actual = { usd: nanoOf(trace.turnsCost?.usd ?? 0), tokens: tokensOf(used) }
  await journalHeld(call, hold, used, actual)
  if (call.openHold !== openHold || isBusy()) return
  for (const each of hold.budgets) each.exceeded = excessOf(each, amountOf(each.limit, actual))
  gateway.limits.bookTurns(hold, actual)
}

/** What turns before have used and was not booked yet is still held, and comes back to nobody. */
function afterTurns(refusal: BudgetRefusal, before: BudgetNeed, booked: bigint): BudgetRefusal {
  const { limit, need, use } = refusal
  const used = amountOf(limit, before) - booked
  return {
    ...refusal,
    need: need - used,
    use: { ...use, used: use.used + Number(used), held: Math.max(0, use.held - Number(used)) },
  }
}
