import type { Conversation, ConversationTurn, Part } from './conversation.ts'
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

/** Where a turn has its reasoning sealed, its text was only shown to the client: nobody wants it back. */
export function withoutShownReasoning(conversation: Conversation): Conversation {
  const isShown = (part: Part) => part.kind === 'reasoning' && part.opaque === undefined
  const isTwice = ({ parts }: ConversationTurn) =>
    parts.some(isShown) && parts.some((part) => 'opaque' in part && part.opaque !== undefined)
  if (!conversation.turns.some(isTwice)) return conversation
  const keep = (turn: ConversationTurn) =>
    isTwice(turn) ? { ...turn, parts: turn.parts.filter((part) => !isShown(part)) } : turn
  return { ...conversation, turns: conversation.turns.map(keep) }
}
