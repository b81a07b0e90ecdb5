import type { Fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import type { JsonObject } from '../core/json/json-value.ts'
import type { Codec, TranslationTarget } from './codec.ts'
import type { Conversation } from './conversation.ts'
import { Ledger } from './ledger.ts'
import {
  acceptShownReasoning,
  keepOwnReasoning,
  loseForeignSignatures,
  type ReasoningDestination,
  signedReasoning,
  withoutShownReasoning,
} from './own-reasoning.ts'

/** A conversation's destination, and the route's conditions. */
export interface WriteDestination extends ReasoningDestination {
  target: TranslationTarget
  /** Nothing may be lost. */
  strict: boolean
}

export interface WrittenRequest {
  body: JsonObject
  /** Paths in the client's body. */
  losses: readonly string[]
  /** The conversation as written: without what belongs to another provider. */
  conversation: Conversation
  /** What happens to signed reasoning; null: there is none. */
  reasoning: 'carried' | 'stripped' | null
}

/** A fault: the provider cannot be asked this. */
export function writeFor(
  read: Conversation,
  from: FormatName,
  codec: Codec,
  destination: WriteDestination,
): WrittenRequest | Fault {
  const { target, strict } = destination
  const ledger = new Ledger(from, codec.format, strict, read.namesWritten)
  acceptShownReasoning(read, ledger)
  const conversation = withoutShownReasoning(keepOwnReasoning(read, destination, ledger))
  loseForeignSignatures(conversation, target, ledger)
  ledger.settle(conversation.seen)
  refuseChoiceOfNothing(conversation, ledger)
  const body = codec.writeRequest(withoutTwins(conversation, ledger), target, ledger)
  if (ledger.refused !== null) return ledger.refused
  if (isFault(body)) return body
  const reasoning = ledger.stripped ? 'stripped' : signedReasoning(read, conversation, target)
  return { body, losses: ledger.losses, conversation, reasoning }
}

/** OpenAI takes several tools of one name, and others refuse them. The first counts, as for calls in an answer. */
function withoutTwins(conversation: Conversation, ledger: Ledger): Conversation {
  const { tools } = conversation
  const names = new Set(tools.map(({ name }) => name))
  if (names.size === tools.length || ledger.to === 'chat' || ledger.to === 'responses') return conversation
  const first = tools.filter(({ name, path }) => {
    if (names.delete(name)) return true
    ledger.lose(path)
    return false
  })
  return { ...conversation, tools: first }
}

/** Every vendor rejects a forced call without tools. Other choices without tools mean nothing. */
function refuseChoiceOfNothing({ toolChoice, tools }: Conversation, ledger: Ledger): void {
  if (tools.length > 0 || toolChoice === null || (toolChoice.mode !== 'any' && !toolChoice.required)) return
  ledger.refuse(toolChoice.path, `${toolChoice.path} forces a call, and the request has no tools`)
}

/** No format's request has both members at the top. */
function isFault(value: JsonObject | Fault): value is Fault {
  return 'code' in value && 'message' in value
}
