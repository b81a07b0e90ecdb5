import type { CallPart } from './conversation.ts'
import { surveyObject } from './json.ts'
import type { Ledger } from './ledger.ts'

/** A call's arguments as the text of a JSON object, copied without reformatting. Anything but an object is refused by name. */
export function argumentsObject(call: CallPart, ledger: Ledger): string {
  const text = call.arguments.trim() === '' ? '{}' : call.arguments
  const { isObject, values } = surveyObject(text)
  if (!ledger.takeValues(values)) ledger.refuse(call.path, 'the arguments of its calls have too many values')
  else if (isObject) return text
  else
    ledger.refuse(call.path, `the arguments of the call ${call.id ?? call.name} at ${call.path} are not a JSON object`)
  return '{}'
}
