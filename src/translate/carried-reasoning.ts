import { asString, parseObject } from '../core/json/json-value.ts'
import type { Opaque, Part } from './conversation.ts'

/**
 * Seals a signature together with the reasoning text it signs, since the text must come back byte for byte. Opaque values that are complete
 * in themselves are sealed alone.
 */
export function packReasoning(opaque: Opaque, text: string): Opaque {
  return opaque.form === 'signature' ? { ...opaque, value: JSON.stringify({ text, value: opaque.value }) } : opaque
}

/** `text` null: the signature came without text. */
export function unpackReasoning(opaque: Opaque): { text: string | null; opaque: Opaque } {
  if (opaque.form !== 'signature') return { text: null, opaque }
  const packed = parseObject(Buffer.from(opaque.value))
  return { text: asString(packed?.text), opaque: { ...opaque, value: asString(packed?.value) } }
}

/**
 * Gemini signs calls, texts and images, and other formats have no place for that. There the signature is carried in a part of its own, and returned
 * to the part that it belongs to: a carrier for a call names the call, since some clients move reasoning before calls; one for a text
 * or an image follows it. `isCarrier`: whether the part at that index can be one.
 */
export function linkCarriers(
  parts: readonly Part[],
  isCarrier: (index: number) => boolean = () => true,
): readonly Part[] {
  const linked = [...parts]
  const calls = new Map(parts.flatMap((part, index) => (part.kind === 'call' ? [[part.id, index]] : [])))
  let text = -1
  const isApart = parts.map((part, index) => {
    if (part.kind === 'text' || (part.kind === 'image' && part.made === true)) text = index
    if (part.kind !== 'reasoning' || part.text !== '' || part.opaque?.form !== 'thought') return true
    const { id, ...opaque } = part.opaque
    const owner = id === undefined ? text : (calls.get(id) ?? -1)
    const signed = linked[owner]
    if (!isCarrier(index) || (signed?.kind !== 'call' && signed?.kind !== 'text' && signed?.kind !== 'image'))
      return true
    linked[owner] = { ...signed, opaque }
    return false
  })
  return linked.filter((_, index) => isApart[index])
}
