import type { FormatName } from '../core/format.ts'
import type { TranslationTarget } from './codec.ts'
import type { Conversation, ConversationTurn, Opaque, Part, ProviderFamily } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { modelFacts } from './model-facts.ts'

/** Decides which signed reasoning may go to a target. */
export interface ReasoningDestination {
  /** The provider whose sealed reasoning may go there; null: none may. */
  providerId: string | null
  /** Whether its own provider has refused it before. */
  isRefused?(opaque: Opaque): boolean
}

/**
 * Keeps only sealed reasoning of the target provider. Reasoning that another provider made is a loss, and so is what its own provider
 * refuses. `providerId` null: none is kept.
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
 * Accepts the loss of unsigned reasoning that was shown to the client: no provider wants it back. Where it is not sent, it is listed, but a
 * strict route that refused it would stop every tool loop at a vendor without signatures. Empty reasoning could not be read, and is lost.
 */
export function acceptShownReasoning({ turns }: Conversation, ledger: Ledger): void {
  if (!ledger.strict) return
  for (const { parts } of turns) for (const part of parts) if (isShown(part)) ledger.accept(part.path)
}

function isShown(part: Part): boolean {
  return part.kind === 'reasoning' && part.opaque === undefined && part.text !== ''
}

/** A text that another family signed is sent without its signature, which has no part of its own. */
export function loseForeignSignatures({ turns }: Conversation, target: ReasoningReader, ledger: Ledger): void {
  const reader = readerAt(target)
  for (const { parts } of turns) {
    for (const part of parts)
      if (part.kind === 'text' && part.opaque !== undefined && part.opaque.family !== reader) ledger.lose(part.path)
  }
}

/** The signed or encrypted values of a conversation. */
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
  const reads = ({ family, form }: Opaque) => family === reader || (form === 'details' && target.format === 'chat')
  return after.length === before && after.every(reads) ? 'carried' : 'stripped'
}

type ReasoningReader = Pick<TranslationTarget, 'format' | 'model'>

function readerAt({ format, model }: ReasoningReader): ProviderFamily | 'other' {
  return format === 'chat' ? modelFacts(model).family : familyOf[format]
}

/** The vendor that signs the reasoning of models in each format. */
export const familyOf: Readonly<Record<FormatName, ProviderFamily>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  generate: 'gemini',
}

/** If a turn's reasoning is sealed, its visible text was only for the client, and is removed. */
export function withoutShownReasoning(conversation: Conversation): Conversation {
  const isTwice = ({ parts }: ConversationTurn) =>
    parts.some(isShown) && parts.some((part) => 'opaque' in part && part.opaque !== undefined)
  if (!conversation.turns.some(isTwice)) return conversation
  const keep = (turn: ConversationTurn) =>
    isTwice(turn) ? { ...turn, parts: turn.parts.filter((part) => !isShown(part)) } : turn
  return { ...conversation, turns: conversation.turns.map(keep) }
}
