import { asString, parseObject } from '../core/json-value.ts'
import type { Opaque } from './conversation.ts'

/**
 * A signature is of the reasoning's own text, which must come back to the byte: it is sealed together with it. What is complete by itself
 * is sealed alone.
 */
export function packReasoning(opaque: Opaque, text: string): Opaque {
  return opaque.form === 'signature' ? { ...opaque, value: JSON.stringify({ text, value: opaque.value }) } : opaque
}

/** `text` null: the signature came alone. */
export function unpackReasoning(opaque: Opaque): { text: string | null; opaque: Opaque } {
  if (opaque.form !== 'signature') return { text: null, opaque }
  const packed = parseObject(Buffer.from(opaque.value))
  return { text: asString(packed?.text), opaque: { ...opaque, value: asString(packed?.value) } }
}
