import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import type { Fault } from '../../core/errors.ts'
import type { Limit, LimitFigures } from '../../core/policies/policy-limits.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { AskedAmounts, LimitHold, LimitRefusal } from '../../policy/limits/limit-counters.ts'
import { refusedByLimit, withinLimits } from '../../policy/limits/limit-faults.ts'
import type { Arrival } from './arrival.ts'
import type { Call } from './call.ts'
import type { RequestEnd } from './trace.ts'

/** Takes what the request counts from every limit of its key, or from none. Null: the request may go on. */
export function takeLimits(call: Call, limits: readonly Limit[]): Fault | null {
  return recordLimits(call, call.gateway.limits.admit(limits, call.inspection.endUser, amountsOf(call)))
}

export function amountsOf(call: Call): AskedAmounts {
  return { requests: 1, tokens: call.match.endpoint.usesTokens ? expectTokens(call) : 0 }
}

/** Writes the outcome to the record; a fault is the answer to the client. */
export function recordLimits({ arrival, gateway, trace }: Call, taken: LimitHold | LimitRefusal): Fault | null {
  if ('taken' in taken) {
    arrival.limits = { hold: taken, figures: gateway.limits.figures(taken) }
    trace.policySignals.push(withinLimits(taken))
    return null
  }
  const { fault, signal } = refusedByLimit(taken)
  const { limit, used, waitMs } = taken
  const figures: LimitFigures = { requests: null, tokens: null }
  if (limit.kind === 'requests' || limit.kind === 'tokens')
    figures[limit.kind] = { limit: limit.limit, left: Math.max(0, limit.limit - used), resetMs: waitMs ?? 0 }
  arrival.limits = { hold: null, figures }
  trace.policySignals.push(signal)
  return fault
}

/** One more turn of a WebSocket. It counts like a request; a rejection is sent as a frame. */
export function takeTurn(
  { gateway, limits, trace, accounts }: Pick<Arrival, 'gateway' | 'limits' | 'trace' | 'accounts'>,
  bytes: number,
): Fault | null {
  const crowded = accounts?.takeTurn(bytes) ?? null
  if (crowded !== null) return crowded
  if (limits === null || limits.hold === null) return null
  const tokens = Math.ceil(bytes / bytesPerToken)
  const refusal = gateway.limits.admitTurn(limits.hold, { requests: 1, tokens })
  if (refusal === null) return null
  // What other nodes grant in the meantime is available to the next turn.
  if (refusal.want !== null) void gateway.limits.askOthers(refusal.want, 0)
  const { fault, signal } = refusedByLimit(refusal)
  if (!trace.policySignals.some(({ rule, verdict }) => rule === 'limits' && verdict === 'deny'))
    trace.policySignals.push(signal)
  return fault
}

/** A turn has ended. `tokens`: the sum of all turns so far. */
export function correctTurns({ gateway, limits, accounts }: Arrival, tokens: TokenUsage | null): void {
  accounts?.correctTurns(tokens)
  if (limits === null || limits.hold === null || tokens === null) return
  gateway.limits.correctTokens(limits.hold, tokens.input + tokens.output)
}

/** The estimated input, and as much output as the client allows. Corrected once the provider has reported its usage. */
function expectTokens({ inputTokens, inspection, outputCap }: Call): number {
  return inputTokens + (outputCap ?? inspection.outputLimit ?? 0)
}

/** Called at the end of a request. Without reported usage the estimate stands; a request that failed used nothing. */
export function releaseLimits({ gateway, limits, trace }: Arrival, { tokens, status, error }: RequestEnd): void {
  if (limits === null || limits.hold === null) return
  // Content rules and budgets are checked after limits: a request that they reject does not count.
  if (error?.origin === 'policy' && trace.attempts.length === 0) return gateway.limits.cancel(limits.hold)
  if (tokens !== null) gateway.limits.correctTokens(limits.hold, tokens.input + tokens.output)
  else if (status >= 400 && status !== 499) gateway.limits.correctTokens(limits.hold, 0)
  gateway.limits.release(limits.hold)
}
