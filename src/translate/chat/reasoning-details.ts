import { asArray, asObject, asString, asText, type JsonObject, parseJson } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { Opaque } from '../conversation.ts'
import { withoutSignature } from '../google-signature.ts'
import { callIdFor } from '../ids.ts'
import type { NamedCall } from '../turns.ts'

/** More does not fit where clients keep it (`openCarriers`). */
const longest = 192 * 1024

/**
 * OpenRouter's account of what a model thought, in pieces (`reasoning_details`). What is signed or encrypted in it has to come back with the
 * calls that it led to, or the model behind refuses them: Gemini 3 does, and Claude while it thinks. All of it goes back as it came.
 */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = []
  #length = 0
  #isSigned = false

  /** Of a whole message, or of one chunk: a text comes in many. */
  push(written: unknown): void {
    for (const detail of asArray(written).map(asObject)) {
      if (detail === null) continue
      this.#isSigned ||= detail.type === 'reasoning.encrypted' || asText(detail.signature) !== null
      if (this.#length > longest) continue
      const last = this.#details.at(-1)
      const isNext = last !== undefined && isContinued(last, detail)
      // What each piece of a text says again does not count.
      this.#length += isNext ? textLength(detail) : JSON.stringify(detail).length
      if (!isNext) this.#details.push({ ...detail })
      else for (const [name, value] of Object.entries(detail)) last[name] = joined(name, last[name], value)
    }
  }

  /** Whether some of it is only for its own provider. */
  get isSigned(): boolean {
    return this.#isSigned
  }

  /** Null: nobody wants it back, or it is too long. */
  get opaque(): Opaque | null {
    if (!this.#isSigned || this.#length > longest) return null
    const value = JSON.stringify(this.#details.filter(isComplete))
    // It is sealed as text in JSON.
    return JSON.stringify(value).length > longest ? null : { family: 'openrouter', form: 'details', value }
  }
}

/** Claude refuses a block that it has not signed. */
function isComplete({ type, format, signature }: Record<string, unknown>): boolean {
  return type !== 'reasoning.text' || asText(format)?.startsWith('anthropic') !== true || asText(signature) !== null
}

const texts = new Set(['text', 'summary'])

function textLength({ text, summary, signature }: Readonly<Record<string, unknown>>): number {
  return asString(text).length + asString(summary).length + asString(signature).length
}

/** A block that is signed is complete. */
function isContinued(last: Record<string, unknown>, next: Readonly<Record<string, unknown>>): boolean {
  if (last.type !== next.type || last.index !== next.index || last.type === 'reasoning.encrypted') return false
  return asText(last.signature) === null || (asText(next.text) ?? asText(next.summary)) === null
}

function joined(name: string, before: unknown, value: unknown): unknown {
  if (texts.has(name) && typeof before === 'string' && typeof value === 'string') return before + value
  return value ?? before
}

/** By the beginning of a format, the vendor whose models can read it. */
const vendors = { anthropic: 'anthropic', google: 'google', openai: 'openai', azure: 'openai', xai: 'x-ai' }

/** The details in an opaque value that the model can read: OpenRouter passes on what another vendor signed, and the model refuses it. */
export function detailsIn(opaque: Opaque | undefined, model: string): readonly JsonObject[] {
  if (opaque?.form !== 'details') return []
  const [, vendor = 'openrouter'] = /^~?([\w-]+)\//.exec(model) ?? []
  return parseDetails(opaque).filter(({ format }) => {
    const signer = ownValue<string>(vendors, asText(format)?.split('-')[0] ?? '')
    // `openrouter/auto` may ask any model.
    return signer === undefined || vendor === 'openrouter' || signer === vendor
  })
}

function parseDetails({ value }: Opaque): JsonObject[] {
  return asArray(parseJson(Buffer.from(value))).flatMap((each): JsonObject[] => {
    const detail = asObject(each)
    return detail === null ? [] : [detail]
  })
}

/** Details name the calls that they sign, and calls get other ids where theirs are too long or come twice. */
export function nameCalls(details: readonly JsonObject[], calls: readonly NamedCall[]): readonly JsonObject[] {
  const ids = new Map<unknown, string>(calls.map(({ id, writtenId }) => [writtenId ?? id, callIdFor('chat', id)]))
  return details.map((detail) => withId(detail, ids))
}

/** The same in an answer, whose ids the conversation may have already. */
export function renameCalls(opaque: Opaque, ids: ReadonlyMap<unknown, string>): Opaque {
  if (opaque.form !== 'details') return opaque
  return { ...opaque, value: JSON.stringify(parseDetails(opaque).map((detail) => withId(detail, ids))) }
}

function withId(detail: JsonObject, ids: ReadonlyMap<unknown, string>): JsonObject {
  const id = ids.get(detail.id)
  return id === undefined ? detail : { ...detail, id }
}

/** At OpenRouter, for a call of another model: newer Gemini models refuse one without a signature. */
export function unsignedDetail({ id }: NamedCall): JsonObject {
  const data = withoutSignature
  return { type: 'reasoning.encrypted', data, id: callIdFor('chat', id), format: 'google-gemini-v1', index: 0 }
}
