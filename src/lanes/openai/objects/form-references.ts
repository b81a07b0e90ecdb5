import type { ObjectName, ObjectType } from '../../../core/stored-object.ts'
import type { FormField, Match } from '../../contract.ts'
import { JsonMembers, type JsonTree, readTree } from '../../json-tree.ts'

type Roots = Readonly<Record<string, ObjectType>>

/** By operation: the fields of its form that name an object, by what their names begin with: SDKs and clients spell the rest in many ways. */
const named = new Map<string, Roots>([
  ['voices.create', { consent: 'voice_consent' }],
  ['images.edits', { image: 'file', mask: 'file' }],
  ['videos.create', { input_reference: 'file', characters: 'character', character_ids: 'character' }],
  ['videos.edits', { video: 'video' }],
  ['videos.extensions', { video: 'video' }],
  ['videos.characters.create', { video: 'video' }],
  ['containers.files.create', { file_id: 'file' }],
])

/** In the form of `FormFields.early`. */
export function referringFields({ endpoint }: Match): string[] {
  return Object.keys(named.get(endpoint.operation) ?? {}).map((root) => `${root}*`)
}

export function formReferences({ endpoint }: Match, fields: readonly FormField[]): ObjectName[] {
  const types = new Map(Object.entries(named.get(endpoint.operation) ?? {}))
  return fields.flatMap(({ name, value }) => {
    const type = types.get(/^[^[.]*/.exec(name)?.[0] ?? '')
    return type === undefined ? [] : readIds(value).map((id) => ({ type, id }))
  })
}

/** The value itself, or where it is JSON what that refers to. */
function readIds(value: string): string[] {
  const text = value.trim()
  if (!/^[[{"]/.test(text)) return text === '' ? [] : [value]
  try {
    JSON.parse(text)
    return idsIn(readTree(Buffer.from(text))?.root ?? null)
  } catch {
    return [value]
  }
}

/** A field holds 4 KiB at most, which bounds the depth. */
function idsIn(value: JsonTree): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!(value instanceof JsonMembers)) return []
  return value.entries.flatMap(({ name, value: member }) =>
    typeof member === 'string' && name !== 'id' && name !== 'file_id' ? [] : idsIn(member),
  )
}
