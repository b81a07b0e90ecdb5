import type { CallPart } from './conversation.ts'
import { surveyObject } from './json.ts'
import type { ModelReply, Stop, StopReason } from './reply.ts'

/** An answer with a call ends for the call, whatever its provider says: agents stop for any other reason. */
export function finalReason(reason: StopReason, hasCalls: boolean): StopReason {
  if (hasCalls) return reason === 'done' || reason === 'sequence' ? 'calls' : reason
  return reason === 'calls' ? 'done' : reason
}

/** Whether an answer that ends in this way may end in the middle of a call: by a limit, or by a filter. */
export function cutsCalls(reason: StopReason): boolean {
  return reason === 'length' || reason === 'context' || reason === 'filtered' || reason === 'refused'
}

/** Drops a call that was cut off. A call that is unreadable for another reason breaks the answer. */
export function settleCalls(parts: ModelReply['parts'], stop: Stop): { parts: ModelReply['parts']; stop: Stop } {
  const kept = cutsCalls(stop.reason) ? parts.filter((part) => part.kind !== 'call' || isReadable(part)) : parts
  const calls = kept.filter((part) => part.kind === 'call')
  const reason = calls.every(isReadable) ? finalReason(stop.reason, calls.length > 0) : 'broken'
  return { parts: kept, stop: { ...stop, reason } }
}

/** A custom tool accepts any text. */
function isReadable({ arguments: text, custom }: CallPart): boolean {
  return custom || areArguments(text)
}

/** An empty text is a call without arguments. */
export function areArguments(text: string): boolean {
  return text.trim() === '' || surveyObject(text).isObject
}
