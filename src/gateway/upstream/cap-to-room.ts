import type { Signal } from '../../core/record.ts'
import type { BudgetRefusal } from '../../policy/limits/budget-counters.ts'
import type { Expected } from '../../policy/limits/expected-use.ts'
import { cappedToRoom, roomToCap } from '../../policy/limits/room-to-cap.ts'
import type { Call } from '../request/call.ts'

/**
 * Caps an answer to what a budget has left, and says so on the record, in place of what was said of another budget before. Null: no
 * shorter answer would help.
 */
export function capToRoom(call: Call, refusal: BudgetRefusal, expected: Expected, before: Signal | null) {
  const { inspection, match, trace } = call
  const room = match.endpoint.outputLimits === undefined ? null : roomToCap(refusal, expected, inspection.answers)
  if (room === null) return null
  call.outputCap = room
  const note = cappedToRoom(refusal.limit, inspection.outputLimit, room)
  const { policySignals } = trace
  policySignals.splice(before === null ? policySignals.length : policySignals.indexOf(before), 1, note)
  return note
}
