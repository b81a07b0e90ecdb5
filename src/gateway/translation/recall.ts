import type { CallPart, Conversation, ConversationTurn, Part } from '../../translate/conversation.ts'
import type { TurnReasoning } from './vault.ts'

/** That of older calls is of little use. */
const mostCalls = 200
const step = 100

/**
 * Ids of the latest tool calls in turns whose reasoning the client did not carry. Of a long conversation the first of them changes in
 * steps, so that the beginning of a prompt rarely changes and stays in the provider's cache.
 */
export function bareCalls({ turns }: Conversation): string[] {
  const ids = turns
    .filter(isBare)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'call' && part.id !== null ? [part.id] : [])))
  return ids.slice(Math.max(0, Math.ceil((ids.length - mostCalls) / step) * step))
}

/** The conversation with the kept reasoning put back where it was. */
export function attachReasoning(conversation: Conversation, found: ReadonlyMap<string, TurnReasoning>): Conversation {
  if (found.size === 0) return conversation
  return { ...conversation, turns: conversation.turns.map((turn) => (isBare(turn) ? attach(turn, found) : turn)) }
}

function isBare({ role, parts }: ConversationTurn): boolean {
  return (
    role === 'assistant' &&
    parts.some(({ kind }) => kind === 'call') &&
    !parts.some((part) => 'opaque' in part && part.opaque !== undefined)
  )
}

function attach(turn: ConversationTurn, found: ReadonlyMap<string, TurnReasoning>): ConversationTurn {
  const first: Part[] = []
  const rest: Part[] = []
  for (const part of turn.parts) {
    const kept = part.kind === 'call' && part.id !== null ? found.get(part.id) : undefined
    for (const thought of kept?.before ?? []) {
      const { text, opaque } = thought
      const place = thought.first ? first : rest
      place.push({ kind: 'reasoning', path: part.path, text, opaque })
    }
    rest.push(part.kind === 'call' ? signed(part, kept) : part)
  }
  const isAttached = turn.parts.some((part) => part.kind === 'call' && part.id !== null && found.has(part.id))
  // The client's own copy of the reasoning is unsigned; the signed original replaces it.
  return isAttached
    ? { ...turn, parts: [...first, ...rest.filter((part) => part.kind !== 'reasoning' || part.opaque !== undefined)] }
    : turn
}

function signed(part: CallPart, kept: TurnReasoning | undefined): CallPart {
  return kept === undefined || kept.own === null ? part : { ...part, opaque: kept.own }
}
