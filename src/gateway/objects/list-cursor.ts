import { createHash } from 'node:crypto'
import type { Asker, ObjectName, ObjectPlace, ObjectScope, ObjectType, StoredObject } from '../../core/stored-object.ts'
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
  /** So many of the caller's items come behind it; null: nobody knows. */
  rest: number | null
  /** The client asks for what is before it. */
  backwards: boolean
}

const mark = 'spgw.'
/** An id or a token; what is longer is neither. */
const valueLimit = 1024

/**
 * A cursor is the id of an item, which says where that lives; or a token, in which the gateway itself has put the place.
 * Source: wire/lanes.md, sections 1.4, 2.4 and 3.5. `missing`: an item that is not the caller's, there or not: asked for it, the
 * provider would tell which.
 */
export async function findCursor(
  objects: ObjectIndex,
  query: string,
  type: ObjectType,
  scope: Asker,
  places: readonly ObjectPlace[],
): Promise<Cursor | IndexFailure | { missing: ObjectName } | null> {
  const parameters = [...new URLSearchParams(query)].filter(([, value]) => value !== '' && value.length <= valueLimit)
  const token = parameters.find(([, value]) => value.startsWith(mark))
  if (token !== undefined) return readToken(query, token, places)
  const named = parameters.filter(([name]) => /^(after|before)/.test(name))
  if (named.length === 0) return null
  // One that has just been made is in the journal only.
  const found = await objects.find(
    named.map(([, id]) => ({ type, id })),
    scope,
  )
  if ('failed' in found) return found
  const isPlaced = (object: StoredObject) => isIn(scope, object) && places.some((place) => isAt(place, object))
  const own = found.filter(isPlaced)
  // Of several, nobody knows which one the provider takes.
  const [, foreign] = named.find(([, id]) => !own.some((object) => object.id === id)) ?? []
  if (foreign !== undefined) return { missing: { type, id: foreign } }
  const [[parameter, id] = ['', '']] = named
  const index = places.findIndex((place) => own.some((object) => object.id === id && isAt(place, object)))
  const backwards = parameter.startsWith('before')
  const place = places[index]
  const rest = backwards || place === undefined ? null : objects.ends.behind(itemKey(place, type, scope, id))
  return { index, query, parameter, begins: false, rest, backwards }
}

/** An item of somebody's list, as the end of that list is remembered by. */
export function itemKey(place: ObjectPlace, type: ObjectType, { environmentId }: ObjectScope, id: string): string {
  return `${environmentId} ${keyOf(place)} ${type} ${id}`
}

/** The query for the beginning of another place. */
export function withoutCursor(query: string, cursor: Cursor | null): string {
  return cursor === null ? query : change(query, cursor.parameter, null)
}

/** What stands in a page for the provider's own token, so that it finds back to the right account. */
export function nameToken(place: ObjectPlace, token: string | null, rest: number | null): string {
  return `${mark}${keyOf(place)}.${rest ?? ''}.${token ?? ''}`
}

function readToken(query: string, [parameter, value]: [string, string], places: readonly ObjectPlace[]): Cursor {
  const [key = '', rest = '', ...more] = value.slice(mark.length).split('.')
  const token = more.join('.')
  const index = places.findIndex((place) => keyOf(place) === key)
  return {
    index: index < 0 ? places.length : index,
    query: change(query, parameter, index < 0 || token === '' ? null : token),
    parameter,
    begins: token === '',
    rest: /^\d+$/.test(rest) ? Number(rest) : null,
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
