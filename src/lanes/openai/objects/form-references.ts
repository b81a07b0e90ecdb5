import type { ObjectName, ObjectType } from '../../../core/stored-object.ts'
import type { FormField, Match } from '../../contract.ts'

/** By operation: the fields of its form that name an object, where an SDK writes them flat. */
const named = new Map<string, Readonly<Record<string, ObjectType>>>([
  ['voices.create', { consent: 'voice_consent' }],
  ['videos.create', { 'input_reference[file_id]': 'file' }],
  ['videos.edits', { 'video[id]': 'video' }],
  ['videos.extensions', { 'video[id]': 'video' }],
  ['containers.files.create', { file_id: 'file' }],
])

export function referringFields({ endpoint }: Match): string[] {
  return Object.keys(named.get(endpoint.operation) ?? {})
}

export function formReferences({ endpoint }: Match, fields: readonly FormField[]): ObjectName[] {
  const types = new Map(Object.entries(named.get(endpoint.operation) ?? {}))
  return fields.flatMap(({ name, value }) => {
    const type = types.get(name)
    return type === undefined || value === '' ? [] : [{ type, id: value }]
  })
}
