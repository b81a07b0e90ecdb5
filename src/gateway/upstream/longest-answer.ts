import { limitAt } from '../../core/policy-limits.ts'
import { outputLimitName } from '../../lanes/request-body.ts'
import type { LongestAnswer } from '../../policy/limits/budget-faults.ts'
import type { LimitHold } from '../../policy/limits/limit-counters.ts'
import { anyLength, longestAnswer } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'
import { expectLong, type Priced } from './expect-target.ts'

/** What a client is told that its budgets refuse: how long they would let an answer be. */
export function longestFitting(call: Call, { limits, user }: LimitHold, target: Priced): LongestAnswer | null {
  const { gateway, arrival, match, inspection, body } = call
  const { outputLimits } = match.endpoint
  if (outputLimits === undefined) return null
  const { timeZone, providers } = gateway.model.configuration
  const now = arrival.receivedAt
  const refusing = limits.filter(({ period, warns }) => period !== null && !warns)
  const budgets = refusing.map((limit) => {
    return { limit, most: limitAt(limit, now), use: gateway.limits.budgetUse(limit, { timeZone, now }, user) }
  })
  const expected = expectLong(call, target, anyLength).flatMap((each) => ('code' in each ? [] : each))
  const known = providers.get(target.provider.id)?.kind.outputLimit
  const written = outputLimits.names.find((name) => name === known) ?? outputLimits.names[0] ?? ''
  const name = outputLimitName(body.bytes, outputLimits, written)
  const adds = inspection.outputLimit === null ? name : null
  return { name, most: longestAnswer(budgets, expected, { answers: inspection.answers, adds }) }
}
