import { createHash } from 'node:crypto'
import type {
  Asker,
  ObjectName,
  ObjectPlace,
  ObjectScope,
  ObjectType,
  StoredObject,
} from '../../core/objects/stored-object.ts'
import { isAt, isIn } from './find-owner.ts'
import type { IndexFailure, ObjectIndex } from './object-index.ts'

/** The position from which a client continues a list. */
export interface Cursor {
  /** Index into the places; beyond the last one: that place no longer exists. */
  index: number
  /** The query for the provider. */
  query: string
  /** The query parameter that holds the cursor. */
  parameter: string
  /** Nothing of that place has been listed yet. */
  begins: boolean
  /** How many of the caller's items follow; null: unknown. */
  rest: number | null
  /** The client asks for the items before it. */
  backwards: boolean
}

const mark = 'spgw.'
/** A longer value is neither an id nor a token. */
const valueLimit = 1024

/**
 * Reads the cursor of a query: an item's id, which says where the item is stored, or a token in which the gateway itself put the place.
 * `missing`: an item that is not the caller's. The provider must not be asked about it, since its answer would reveal whether it exists.
 * Source: wire/lanes.md, sections 1.4, 2.4 and 3.5.
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
  // Does wait for the journal: an item that was just created is only there.
  const found = await objects.find(
    named.map(([, id]) => ({ type, id })),
    scope,
  )
  if ('failed' in found) return found
  const isPlaced = (object: StoredObject) => isIn(scope, object) && places.some((place) => isAt(place, object))
  const own = found.filter(isPlaced)
  // Every named item must be the caller's: it is unknown which one the provider uses.
  const [, foreign] = named.find(([, id]) => !own.some((object) => object.id === id)) ?? []
  if (foreign !== undefined) return { missing: { type, id: foreign } }
  const [[parameter, id] = ['', '']] = named
  const index = places.findIndex((place) => own.some((object) => object.id === id && isAt(place, object)))
  const backwards = parameter.startsWith('before')
  const place = places[index]
  const rest = backwards || place === undefined ? null : objects.ends.behind(itemKey(place, type, scope, id))
  return { index, query, parameter, begins: false, rest, backwards }
}

/** The name under which a list's end is remembered, for one item of it. */
export function itemKey(place: ObjectPlace, type: ObjectType, { environmentId }: ObjectScope, id: string): string {
  return `${environmentId} ${keyOf(place)} ${type} ${id}`
}

/** The query without its cursor, for the beginning of another place. */
export function withoutCursor(query: string, cursor: Cursor | null): string {
  return cursor === null ? query : change(query, cursor.parameter, null)
}

/** The token that a page shows in place of the provider's own: it also names the account. */
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

/** A digest, so that a token reveals nothing about the place. */
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
