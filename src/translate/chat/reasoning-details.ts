import { asArray, asObject, asText, parseJson } from '../../core/json/json-value.ts'
import type { Opaque } from '../conversation.ts'

/** More does not fit where clients keep it (`openCarriers`). */
const longest = 192 * 1024

/**
 * OpenRouter's account of what a model thought, in pieces (`reasoning_details`). What is signed or encrypted in it has to come back with the
 * calls that it led to, or the model behind refuses them: Gemini 3 does, and Claude while it thinks. All of it goes back as it came.
 */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = []
  #length = 0

  /** Of a whole message, or of one chunk: a text comes in many. */
  push(written: unknown): void {
    for (const detail of asArray(written).map(asObject)) {
      if (detail === null || this.#length > longest) continue
      this.#length += JSON.stringify(detail).length
      const last = this.#details.at(-1)
      if (last === undefined || !isContinued(last, detail)) this.#details.push({ ...detail })
      else for (const [name, value] of Object.entries(detail)) last[name] = joined(name, last[name], value)
    }
  }

  /** Whether some of it is only for its own provider. */
  get isSigned(): boolean {
    return this.#details.some(({ type, signature }) => type === 'reasoning.encrypted' || asText(signature) !== null)
  }

  /** Null: nobody wants it back, or it is too long. */
  get opaque(): Opaque | null {
    if (!this.isSigned || this.#length > longest) return null
    return { family: 'openrouter', form: 'details', value: JSON.stringify(this.#details.filter(isComplete)) }
  }
}

/** Claude refuses a block that it has not signed. */
function isComplete({ type, format, signature }: Record<string, unknown>): boolean {
  return type !== 'reasoning.text' || asText(format)?.startsWith('anthropic') !== true || asText(signature) !== null
}

const texts = new Set(['text', 'summary'])

/** A block that is signed is complete. */
function isContinued(last: Record<string, unknown>, next: Readonly<Record<string, unknown>>): boolean {
  if (last.type !== next.type || last.index !== next.index || last.type === 'reasoning.encrypted') return false
  return asText(last.signature) === null || (asText(next.text) ?? asText(next.summary)) === null
}

function joined(name: string, before: unknown, value: unknown): unknown {
  if (texts.has(name) && typeof before === 'string' && typeof value === 'string') return before + value
  return value ?? before
}

/** The details in an opaque value. */
export function detailsIn(opaque: Opaque | undefined): readonly unknown[] {
  return opaque?.form === 'details' ? asArray(parseJson(Buffer.from(opaque.value))) : []
}
