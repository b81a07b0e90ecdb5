import { createHash } from 'node:crypto'
import type { ObjectPlace, ObjectScope, ObjectType } from '../../core/stored-object.ts'
import type { ObjectPage } from '../../lanes/contract.ts'
import { isAt, isIn } from './find-owner.ts'
import type { IndexFailure, ObjectIndex } from './object-index.ts'

/** From where a client asks on. */
export interface Cursor {
  /** Of the places; beyond the last: what it names is there no more. */
  index: number
  /** To be asked there. */
  query: string
  /** The name of the parameter that holds it. */
  parameter: string
  /** Nothing of that place has been seen yet. */
  begins: boolean
  /** The client asks for what is before it. */
  backwards: boolean
}

const mark = 'spgw.'
/** An id or a token; what is longer is neither. */
const valueLimit = 1024

/**
 * A cursor is the id of an item, which says where that lives; or a token, in which the gateway itself has put the place.
 * Source: wire/lanes.md, sections 1.4, 2.4 and 3.5.
 */
export async function findCursor(
  objects: ObjectIndex,
  query: string,
  type: ObjectType,
  scope: ObjectScope,
  places: readonly ObjectPlace[],
): Promise<Cursor | IndexFailure | null> {
  const parameters = [...new URLSearchParams(query)].filter(([, value]) => value !== '' && value.length <= valueLimit)
  const own = parameters.find(([, value]) => value.startsWith(mark))
  if (own !== undefined) return readToken(query, own, places)
  const named = parameters.filter(([name]) => /^(after|before)/.test(name))
  if (named.length === 0) return null
  const found = await objects.look(
    named.map(([, id]) => ({ type, id })),
    scope,
  )
  if ('failed' in found) return found
  for (const [parameter, id] of named) {
    const object = found.find((each) => each.id === id && isIn(scope, each))
    const index = object === undefined ? -1 : places.findIndex((place) => isAt(place, object))
    if (index >= 0) return { index, query, parameter, begins: false, backwards: parameter.startsWith('before') }
  }
  return null
}

/** The query for the beginning of another place. */
export function withoutCursor(query: string, cursor: Cursor | null): string {
  return cursor === null ? query : change(query, cursor.parameter, null)
}

/** What stands in a page for the provider's own token, so that it finds back to the right account. */
export function nameToken(goesOn: { here: boolean }, page: ObjectPage, place: ObjectPlace): string {
  return `${mark}${keyOf(place)}.${goesOn.here ? (page.token ?? '') : ''}`
}

function readToken(query: string, [parameter, value]: [string, string], places: readonly ObjectPlace[]): Cursor {
  const [key = '', ...rest] = value.slice(mark.length).split('.')
  const token = rest.join('.')
  const index = places.findIndex((place) => keyOf(place) === key)
  return {
    index: index < 0 ? places.length : index,
    query: change(query, parameter, index < 0 || token === '' ? null : token),
    parameter,
    begins: token === '',
    backwards: false,
  }
}

/** Says nothing of what it stands for. */
function keyOf({ providerId, credentialId }: ObjectPlace): string {
  return createHash('sha256').update(`${providerId} ${credentialId}`).digest('hex').slice(0, 12)
}

function change(query: string, parameter: string, value: string | null): string {
  const parameters = new URLSearchParams(query)
  if (value === null) parameters.delete(parameter)
  else parameters.set(parameter, value)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
