import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { packReasoning, unpackReasoning } from '../carried-reasoning.ts'
import type { Carriers } from '../codec.ts'
import type { Opaque, ReasoningPart } from '../conversation.ts'

/**
 * Chat has no place for signed reasoning. A message carries it as `extra_content.spgw.reasoning`, a list with a sealed text for each part;
 * a call carries its own as `extra_content.google.thought_signature`, which is Google's form.
 */
export function writeCarried(parts: readonly ReasoningPart[], carriers: Carriers): JsonObject | null {
  const sealed = parts.flatMap(({ text, opaque }) =>
    opaque === undefined ? [] : (carriers.seal(packReasoning(opaque, text)) ?? []),
  )
  return sealed.length === 0 ? null : { spgw: { reasoning: sealed } }
}

/** A value that cannot be opened becomes an empty part, so that its loss is listed. */
export function readCarried(extra: unknown, path: string, carriers: Carriers): ReasoningPart[] {
  const sealed = asArray(asObject(asObject(extra)?.spgw)?.reasoning)
  return sealed.map((value, index): ReasoningPart => {
    const packed = typeof value === 'string' ? carriers.open(value) : null
    const part = { kind: 'reasoning' as const, path: `${path}.spgw.reasoning[${index}]` }
    if (packed === null) return { ...part, text: '' }
    const { text, opaque } = unpackReasoning(packed)
    return { ...part, text: text ?? '', opaque }
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

/** Google's servers with OpenAI's API sign calls in this way. */
export function thoughtSignature(extra: unknown): string | null {
  return asText(asObject(asObject(extra)?.google)?.thought_signature)
}
