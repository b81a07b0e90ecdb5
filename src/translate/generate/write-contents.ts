import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import { argumentsObject } from '../call-arguments.ts'
import type { MediaPart, ReasoningPart, RefusalPart, TextPart } from '../conversation.ts'
import { withoutSignature } from '../google-signature.ts'
import { toolNameFor } from '../ids.ts'
import { embedJson, embedTurns } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { namedText } from '../media-type.ts'
import type { ModelFacts } from '../model-facts.ts'
import { detailPath } from '../setting-paths.ts'
import { beginningText, isMedia, type NamedCall, type NamedResult, type OrderedTurn } from '../turns.ts'
import { writeMedia } from './write-media.ts'

export function writeContents(turns: readonly OrderedTurn[], facts: ModelFacts, ledger: Ledger): unknown[] {
  const writer = new ContentWriter(facts, ledger)
  // The current turn begins with the user's last message; results are not the user's.
  const current = turns.findLastIndex(
    ({ role, parts }) => role !== 'assistant' && parts.some(({ kind }) => kind !== 'result'),
  )
  const contents = turns.flatMap(({ role, parts, plain }, index): unknown => {
    if (plain !== undefined) return embedTurns(plain, 'generate')
    const written = role === 'assistant' ? writer.model(parts, index > current) : writer.user(parts)
    return written.length === 0 ? [] : [{ role: role === 'assistant' ? 'model' : 'user', parts: written }]
  })
  if (!facts.prefill && asObject(contents.at(-1))?.role === 'model')
    ledger.refuse(turns.at(-1)?.path ?? '', "this model does not continue an assistant's message; end with the user's")
  if (asObject(contents[0])?.role !== 'model') return contents
  // A call must follow a user's message.
  ledger.lose(turns.find(({ role }) => role === 'assistant')?.path ?? '')
  return [{ role: 'user', parts: [{ text: beginningText }] }, ...contents]
}

class ContentWriter {
  readonly #facts: ModelFacts
  readonly #ledger: Ledger

  constructor(facts: ModelFacts, ledger: Ledger) {
    this.#facts = facts
    this.#ledger = ledger
  }

  /** Gemini 3 and later: calls have ids and signatures, and results can contain images. */
  get #isNewest(): boolean {
    return this.#facts.reasoning.control === 'level'
  }

  user(parts: OrderedTurn['parts']): JsonObject[] {
    const results = parts.filter((part) => part.kind === 'result')
    const written = results.map((result) => this.#result(result))
    // Older models accept images only after all results.
    const media = this.#isNewest ? [] : results.flatMap((result) => result.parts.filter(isBinary))
    for (const { path } of media) this.#ledger.lose(path)
    return [
      ...written,
      ...media.map((part) => this.#media(part)),
      ...parts.flatMap((part) => {
        if (part.kind === 'text' || part.kind === 'refusal') return [{ text: part.text }]
        if (isMedia(part)) return [this.#media(part)]
        if (part.kind !== 'result') this.#ledger.lose(part.path)
        return []
      }),
    ]
  }

  model(parts: OrderedTurn['parts'], isCurrent: boolean): JsonObject[] {
    const calls = parts.filter((part) => part.kind === 'call')
    const [first] = calls
    const unsigned = this.#isNewest && calls.every(({ opaque }) => opaque?.form !== 'thought')
    // Only the current turn is checked. In earlier ones the word stays, so that the provider's cache finds them unchanged.
    if (unsigned && isCurrent && first !== undefined) this.#ledger.lose(`${first.path}.thought_signature`)
    return parts.flatMap((part): JsonObject[] => {
      switch (part.kind) {
        case 'text':
        case 'refusal':
          return [this.#said(part)]
        case 'reasoning':
          return this.#reasoning(part)
        case 'call':
          return [this.#call(part, unsigned && part === first)]
        default:
          if (isMedia(part)) return [part.made === true ? this.#made(part) : this.#media(part)]
          this.#ledger.lose(part.path)
          return []
      }
    })
  }

  /** Gemini 3 refuses images of its turns without a signature. */
  #made(part: MediaPart): JsonObject {
    const image = this.#media(part)
    if (part.opaque?.form === 'thought') return { ...image, thoughtSignature: part.opaque.value }
    return this.#isNewest ? { ...image, thoughtSignature: withoutSignature } : image
  }

  #said(part: TextPart | RefusalPart): JsonObject {
    const { text } = part
    return part.kind === 'text' && part.opaque?.form === 'thought'
      ? { text, thoughtSignature: part.opaque.value }
      : { text }
  }

  /** Gemini only accepts reasoning that it signed itself, and other reasoning must not become a text of an answer. */
  #reasoning({ text, opaque, path }: ReasoningPart): JsonObject[] {
    if (opaque?.form === 'thought') return [{ text, thought: true, thoughtSignature: opaque.value }]
    this.#ledger.lose(path)
    return []
  }

  #call(call: NamedCall, isUnsigned: boolean): JsonObject {
    const { id, name, custom, opaque } = call
    const args = custom ? { input: call.arguments } : embedJson(argumentsObject(call, this.#ledger))
    const functionCall = { ...(this.#isNewest && { id }), name: toolNameFor('generate', name), args }
    if (opaque?.form === 'thought') return { functionCall, thoughtSignature: opaque.value }
    return isUnsigned ? { functionCall, thoughtSignature: withoutSignature } : { functionCall }
  }

  /** Text stays text, even if it looks like JSON. */
  #result({ callId, name, parts, failed }: NamedResult): JsonObject {
    const text = parts.flatMap(textsOf).join('\n')
    const media = this.#isNewest ? parts.filter(isBinary).map((part) => this.#inResult(part)) : []
    return {
      functionResponse: {
        ...(this.#isNewest && { id: callId }),
        name: toolNameFor('generate', name),
        response: { [failed ? 'error' : 'output']: text },
        ...(media.length > 0 && { parts: media }),
      },
    }
  }

  /** Parts of results cannot say how closely to look. */
  #inResult(part: MediaPart): JsonObject {
    const { mediaResolution, ...media } = this.#media(part)
    if (mediaResolution !== undefined) this.#ledger.lose(detailPath(this.#ledger.from, part.path))
    return media
  }

  #media(part: MediaPart): JsonObject {
    return writeMedia(part, { isNewest: this.#isNewest, ledger: this.#ledger })
  }
}

type ResultContent = NamedResult['parts'][number]

/** A plain-text document is sent as text. */
function textsOf(part: ResultContent): string[] {
  if (part.kind === 'text') return [part.text]
  return isMedia(part) && part.source.kind === 'text' ? [namedText(part.name, part.source.data)] : []
}

function isBinary(part: ResultContent): part is MediaPart {
  return isMedia(part) && part.source.kind !== 'text'
}
