import type { Limit } from '../../core/policies/policy-limits.ts'
import type { BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import type { Expected } from '../../policy/limits/expected-use.ts'
import { cappedToRoom, capUnknown, roomToCap } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'

/** Caps the answer to what a budget has left. False: a shorter answer would not help, or the policy does not cap answers. */
export function capToRoom(call: Call, refusal: BudgetRefusal | null, expected: Expected): boolean {
  const { inspection, match } = call
  // A copy for a shadow target is never capped: it would use up the rest of the budget.
  if (refusal === null || call.trace.shadowOf !== null || match.endpoint.outputLimits === undefined) return false
  const room = roomToCap(refusal, expected, inspection.answers)
  if (room !== null) noteCap(call, refusal.limit, room)
  return room !== null
}

/** The same for an answer whose greatest length is unknown. */
export function capLength(call: Call, limits: readonly Limit[]): boolean {
  const capped = call.trace.shadowOf === null ? capUnknown(limits, call.inspection.answers) : null
  if (capped !== null) noteCap(call, capped.limit, capped.most)
  return capped !== null
}

/** Keeps one note on the record: it replaces the note about another budget. */
function noteCap(call: Call, limit: Limit, most: number): void {
  const { policySignals } = call.trace
  const before = call.roomNote === null ? -1 : policySignals.indexOf(call.roomNote)
  call.outputCap = most
  call.roomNote = cappedToRoom(limit, call.inspection.outputLimit, most)
  policySignals.splice(before < 0 ? policySignals.length : before, 1, call.roomNote)
}
