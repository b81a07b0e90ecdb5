import { asArray, asObject, asString, asText, type JsonObject, parseObject } from '../../core/json-value.ts'
import type { Carriers } from '../codec.ts'
import type { Opaque, ReasoningPart } from '../conversation.ts'

/**
 * Chat has no place for signed reasoning. A message carries it as `extra_content.spgw.reasoning`, a list of sealed texts, one for each
 * part; a call carries its own as `extra_content.google.thought_signature`, which is Google's form.
 */
export function writeCarried(parts: readonly ReasoningPart[], carriers: Carriers): JsonObject | null {
  const sealed = parts.flatMap(({ text, opaque }) => {
    if (opaque === undefined) return []
    // A signature is of the part's own text, which must come back to the byte: it is carried with it.
    const value = opaque.form === 'redacted' ? opaque.value : JSON.stringify({ text, value: opaque.value })
    return carriers.seal({ ...opaque, value }) ?? []
  })
  return sealed.length === 0 ? null : { spgw: { reasoning: sealed } }
}

export function readCarried(extra: unknown, path: string, carriers: Carriers): ReasoningPart[] {
  const sealed = asArray(asObject(asObject(extra)?.spgw)?.reasoning)
  return sealed.flatMap((text, index): ReasoningPart[] => {
    const opaque = typeof text === 'string' ? carriers.open(text) : null
    const part = { kind: 'reasoning' as const, path: `${path}.spgw.reasoning[${index}]` }
    if (opaque === null) return [{ ...part, text: '' }]
    if (opaque.form === 'redacted') return [{ ...part, text: '', opaque }]
    const carried = parseObject(Buffer.from(opaque.value))
    return [{ ...part, text: asString(carried?.text), opaque: { ...opaque, value: asString(carried?.value) } }]
  })
}

export function writeCarriedCall(opaque: Opaque, carriers: Carriers): JsonObject | null {
  const sealed = carriers.seal(opaque)
  return sealed === null ? null : { google: { thought_signature: sealed } }
}

export function readCarriedCall(extra: unknown, carriers: Carriers): Opaque | null {
  const sealed = thoughtSignature(extra)
  return sealed === null ? null : carriers.open(sealed)
}

/** Google's servers with OpenAI's API sign calls so. */
export function thoughtSignature(extra: unknown): string | null {
  return asText(asObject(asObject(extra)?.google)?.thought_signature)
}
