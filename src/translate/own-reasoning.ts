import type { FormatName } from '../core/format.ts'
import type { TranslationTarget } from './codec.ts'
import type { Conversation, ConversationTurn, Part, ProviderFamily } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { modelFacts } from './model-facts.ts'

/**
 * Sealed reasoning goes back to the provider that made it, and to no other: what another one made is a loss. `providerId` null: it goes
 * to nobody, since its own provider no longer takes it.
 */
export function keepOwnReasoning(conversation: Conversation, providerId: string | null, ledger: Ledger): Conversation {
  const isForeign = (part: Part) => {
    const opaque = 'opaque' in part ? part.opaque : undefined
    if (providerId === null) return opaque !== undefined
    return opaque?.provider !== undefined && opaque.provider !== providerId
  }
  if (!conversation.turns.some(({ parts }) => parts.some(isForeign))) return conversation
  const keep = (part: Part): Part => {
    if (!isForeign(part)) return part
    ledger.lose(part.path)
    return { ...part, opaque: undefined } as Part
  }
  return { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(keep) })) }
}

/**
 * Reasoning that nobody signed was shown to the client, and no provider wants it back: it is listed where it does not go up, but a strict
 * route that refused it would let no tool loop go on at a vendor without signatures. What is empty could not be read, and is lost.
 */
export function acceptShownReasoning({ turns }: Conversation, ledger: Ledger): void {
  if (!ledger.strict) return
  for (const { parts } of turns) for (const part of parts) if (isShown(part)) ledger.accept(part.path)
}

function isShown(part: Part): boolean {
  return part.kind === 'reasoning' && part.opaque === undefined && part.text !== ''
}

/** Whether anything of it is signed or encrypted. */
export function holdsOpaque({ turns }: Conversation): boolean {
  return turns.some(({ parts }) => parts.some((part) => 'opaque' in part && part.opaque !== undefined))
}

/** Whether signed reasoning reaches the provider, or some of it is stripped; null: there is none. */
export function signedReasoning(
  read: Conversation,
  written: Conversation,
  { format, model }: Pick<TranslationTarget, 'format' | 'model'>,
): 'carried' | 'stripped' | null {
  const signed = (conversation: Conversation) =>
    conversation.turns.flatMap(({ parts }) =>
      parts.flatMap((part) => ('opaque' in part && part.opaque !== undefined ? [part.opaque.family] : [])),
    )
  const before = signed(read).length
  if (before === 0) return null
  const reader = format === 'chat' ? modelFacts(model).family : familyOf[format]
  const after = signed(written)
  return after.length === before && after.every((family) => family === reader) ? 'carried' : 'stripped'
}

/** Who signs what a model of the format thinks. */
export const familyOf: Readonly<Record<FormatName, ProviderFamily>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  generate: 'gemini',
}

/** Where a turn has its reasoning sealed, its text was only shown to the client: nobody wants it back. */
export function withoutShownReasoning(conversation: Conversation): Conversation {
  const isTwice = ({ parts }: ConversationTurn) =>
    parts.some(isShown) && parts.some((part) => 'opaque' in part && part.opaque !== undefined)
  if (!conversation.turns.some(isTwice)) return conversation
  const keep = (turn: ConversationTurn) =>
    isTwice(turn) ? { ...turn, parts: turn.parts.filter((part) => !isShown(part)) } : turn
  return { ...conversation, turns: conversation.turns.map(keep) }
}
