import type { Limit } from '../../core/policy-limits.ts'
import type { BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import type { Expected } from '../../policy/limits/expected-use.ts'
import { cappedToRoom, capUnknown, roomToCap } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'

/** Caps an answer to what a budget has left. False: no shorter answer would help, or the policy does not want one. */
export function capToRoom(call: Call, refusal: BudgetRefusal | null, expected: Expected): boolean {
  const { inspection, match } = call
  // Not of a copy for a shadow, which would take the last of a budget.
  if (refusal === null || call.trace.shadowOf !== null || match.endpoint.outputLimits === undefined) return false
  const room = roomToCap(refusal, expected, inspection.answers)
  if (room !== null) noteCap(call, refusal.limit, room)
  return room !== null
}

/** The same of an answer of which nobody knows how long it may get. */
export function capLength(call: Call, limits: readonly Limit[]): boolean {
  const capped = call.trace.shadowOf === null ? capUnknown(limits, call.inspection.answers) : null
  if (capped !== null) noteCap(call, capped.limit, capped.most)
  return capped !== null
}

/** One note on the record, in place of what was said of another budget before. */
function noteCap(call: Call, limit: Limit, most: number): void {
  const { policySignals } = call.trace
  const before = call.roomNote === null ? -1 : policySignals.indexOf(call.roomNote)
  call.outputCap = most
  call.roomNote = cappedToRoom(limit, call.inspection.outputLimit, most)
  policySignals.splice(before < 0 ? policySignals.length : before, 1, call.roomNote)
}
