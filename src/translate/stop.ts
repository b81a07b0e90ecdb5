import type { CallPart } from './conversation.ts'
import { surveyObject } from './json.ts'
import type { ModelReply, Stop, StopReason } from './reply.ts'

/** An answer with a call ends for the call, whatever its provider says: agents stop at anything else. */
export function finalReason(reason: StopReason, hasCalls: boolean): StopReason {
  if (hasCalls) return reason === 'done' || reason === 'sequence' ? 'calls' : reason
  return reason === 'calls' ? 'done' : reason
}

/** Whether an answer that ends so may end in the midst of a call: by a limit, or by a filter that stepped in. */
export function cutsCalls(reason: StopReason): boolean {
  return reason === 'length' || reason === 'context' || reason === 'filtered' || reason === 'refused'
}

/** A call that was cut in two is dropped; one that cannot be read for another reason breaks the answer. */
export function settleCalls(parts: ModelReply['parts'], stop: Stop): { parts: ModelReply['parts']; stop: Stop } {
  const kept = cutsCalls(stop.reason) ? parts.filter((part) => part.kind !== 'call' || isReadable(part)) : parts
  const calls = kept.filter((part) => part.kind === 'call')
  const reason = calls.every(isReadable) ? finalReason(stop.reason, calls.length > 0) : 'broken'
  return { parts: kept, stop: { ...stop, reason } }
}

/** A custom tool takes any text. */
function isReadable({ arguments: text, custom }: CallPart): boolean {
  return custom || areArguments(text)
}

/** No text at all is a call without arguments. */
export function areArguments(text: string): boolean {
  return text.trim() === '' || surveyObject(text).isObject
}
