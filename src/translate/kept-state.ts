import type { Conversation } from './conversation.ts'

const state: ReadonlySet<string> = new Set(['store', 'previous_response_id', 'input:item_reference'])

/** Removes the settings that the gateway handles itself because it keeps the response. */
export function withoutState(conversation: Conversation): Conversation {
  return { ...conversation, seen: conversation.seen.filter(({ field }) => !state.has(field)) }
}
