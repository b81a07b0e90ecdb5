import type { Conversation } from './conversation.ts'

const state: ReadonlySet<string> = new Set(['store', 'previous_response_id', 'input:item_reference'])

/** Without what the gateway itself does in the provider's place, where it keeps responses. */
export function withoutState(conversation: Conversation): Conversation {
  return { ...conversation, seen: conversation.seen.filter(({ field }) => !state.has(field)) }
}
