import { type Fault, fault } from '../core/errors.ts'
import { elsewhere, leadingFields } from './additional-models.ts'
import type { Endpoint, FormField, FormFields, Inspection, Match } from './contract.ts'
import { forwardedQuery } from './query.ts'
import { emptyInspection } from './request-body.ts'

/** The longest id of an end user that any vendor accepts (see `readEndUser`). */
const endUserCharacters = 256

/**
 * The fields that every lane needs: the model where the call names one, whether it streams, and the end user. Whatever else could choose
 * what answers must be known before the call is allowed.
 */
export function usualFormFields(
  model: Endpoint['model'],
  stream: Endpoint['stream'],
  early: readonly string[] = [],
): FormFields {
  const named = model === 'body' || model === 'body-optional'
  const read = stream === null ? [] : ['stream']
  if (!named) return { needed: [], early, read }
  return { needed: ['model'], early: [...early, ...leadingFields], read: [...read, 'user'] }
}

export function inspectFormFields(match: Match, query: string, fields: readonly FormField[]): Inspection | Fault {
  const { endpoint, pathModel } = match
  const leading = fields.find(({ name, value }) => leadingFields.includes(name) && value !== '')
  if (leading !== undefined) return elsewhere(leading.name)
  const named = fields.find(({ name }) => name === 'model')
  if (named?.value.trim() === '') return badModel('`model` is empty; name the model.')
  if (named === undefined && endpoint.model === 'body')
    return badModel('`model` is missing; send the form with a field `model`.')
  const streamed = endpoint.stream !== null && fields.some(({ name, value }) => name === 'stream' && isTrue(value))
  return {
    ...emptyInspection(named?.value ?? pathModel, forwardedQuery(query)),
    streamed,
    framing: streamed ? endpoint.stream : null,
    modelSpans: named === undefined ? [] : [{ start: named.start, end: named.end }],
    endUser: readUser(fields),
  }
}

/** Form fields have no types; the vendors' servers read them like this. */
function isTrue(text: string): boolean {
  return ['true', '1', 'on', 'yes'].includes(text.toLowerCase())
}

function readUser(fields: readonly FormField[]): string | null {
  const user = fields.find(({ name }) => name === 'user')?.value ?? ''
  return user !== '' && user.length <= endUserCharacters ? user : null
}

function badModel(message: string): Fault {
  return fault('invalid_request', message, { param: 'model' })
}
