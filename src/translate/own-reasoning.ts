import type { FormatName } from '../core/format.ts'
import type { TranslationTarget } from './codec.ts'
import type { Conversation, ConversationTurn, Opaque, Part, ProviderFamily } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { modelFacts } from './model-facts.ts'

/** Which signed reasoning may go to a target. */
export interface ReasoningDestination {
  /** Sealed reasoning of another provider does not go there; null: none goes. */
  providerId: string | null
  /** Whether its own provider has refused it before. */
  isRefused?(opaque: Opaque): boolean
}

/**
 * Sealed reasoning goes back to the provider that made it, and to no other: what another one made is a loss, and so is what its own
 * provider refuses. `providerId` null: it goes to nobody.
 */
export function keepOwnReasoning(
  conversation: Conversation,
  { providerId, isRefused }: ReasoningDestination,
  ledger: Ledger,
): Conversation {
  const isForeign = (part: Part) => {
    const opaque = 'opaque' in part ? part.opaque : undefined
    if (opaque === undefined) return false
    if (providerId === null || isRefused?.(opaque) === true) return true
    return opaque.provider !== undefined && opaque.provider !== providerId
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

/** A text that another family has signed goes up without its signature, which stands in no part of its own. */
export function loseForeignSignatures({ turns }: Conversation, target: ReasoningReader, ledger: Ledger): void {
  const reader = readerAt(target)
  for (const { parts } of turns) {
    for (const part of parts)
      if (part.kind === 'text' && part.opaque !== undefined && part.opaque.family !== reader) ledger.lose(part.path)
  }
}

/** What of it is signed or encrypted. */
export function listOpaque({ turns }: Conversation): Opaque[] {
  return turns.flatMap(({ parts }) =>
    parts.flatMap((part) => ('opaque' in part && part.opaque !== undefined ? [part.opaque] : [])),
  )
}

/** Whether signed reasoning reaches the provider, or some of it is stripped; null: there is none. */
export function signedReasoning(
  read: Conversation,
  written: Conversation,
  target: ReasoningReader,
): 'carried' | 'stripped' | null {
  const before = listOpaque(read).length
  if (before === 0) return null
  const reader = readerAt(target)
  const after = listOpaque(written)
  return after.length === before && after.every(({ family }) => family === reader) ? 'carried' : 'stripped'
}

type ReasoningReader = Pick<TranslationTarget, 'format' | 'model'>

function readerAt({ format, model }: ReasoningReader): ProviderFamily | 'other' {
  return format === 'chat' ? modelFacts(model).family : familyOf[format]
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
