import { asObject } from '../../../src/core/json/json-value.ts'
import { parseLossless } from '../../../src/translate/json.ts'

/** The text is a JSON object, whole. */
export function isReadableObject(text: string): boolean {
  return asObject(parseLossless(text)) !== null
}
