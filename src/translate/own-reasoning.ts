import type { Conversation, Part } from './conversation.ts'
import type { Ledger } from './ledger.ts'

/** Sealed reasoning goes back to the provider that made it, and to no other: what another one made is a loss. */
export function keepOwnReasoning(conversation: Conversation, providerId: string, ledger: Ledger): Conversation {
  const isForeign = (part: Part) => {
    const whose = 'opaque' in part ? part.opaque?.provider : undefined
    return whose !== undefined && whose !== providerId
  }
  if (!conversation.turns.some(({ parts }) => parts.some(isForeign))) return conversation
  const keep = (part: Part): Part => {
    if (!isForeign(part)) return part
    ledger.lose(part.path)
    return { ...part, opaque: undefined } as Part
  }
  return { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(keep) })) }
}
