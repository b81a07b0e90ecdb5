import { asObject } from '../core/json-value.ts'
import type { CallPart } from './conversation.ts'
import { parseLossless } from './json.ts'
import type { Ledger } from './ledger.ts'

/** A call's arguments as the text of a JSON object, copied and never written again. What is no object is refused by name. */
export function argumentsObject(call: CallPart, ledger: Ledger): string {
  const text = call.arguments.trim() === '' ? '{}' : call.arguments
  if (asObject(parseLossless(text)) !== null) return text
  ledger.refuse(call.path, `the arguments of the call ${call.id ?? call.name} at ${call.path} are no JSON object`)
  return '{}'
}
