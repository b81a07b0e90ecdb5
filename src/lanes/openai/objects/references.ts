import type { Fault } from '../../../core/errors.ts'
import type { ObjectName, ObjectType } from '../../../core/stored-object.ts'
import { type NameWatch, WatchedNames } from '../../../core/watched-names.ts'
import type { Match, Reference } from '../../contract.ts'
import { JsonMembers, type JsonTree, longText, readTree, tooManyValues } from '../../json-tree.ts'

/**
 * What this lane's requests name objects with. Source: the request types of the vendor's SDK (wire/lanes.md, section 1.5). A string,
 * a list of strings, or where the table says so an object with an `id`.
 */
const named: ReadonlyMap<string, ObjectType> = new Map([
  ['file_id', 'file'],
  ['file_ids', 'file'],
  ['input_file_id', 'file'],
  ['training_file', 'file'],
  ['validation_file', 'file'],
  ['vector_store_id', 'vector_store'],
  ['vector_store_ids', 'vector_store'],
  ['previous_response_id', 'response'],
  ['comparison_response_id', 'response'],
  ['conversation', 'conversation'],
  ['container', 'container'],
  ['container_id', 'container'],
  ['skill_id', 'skill'],
  ['assistant_id', 'assistant'],
  ['thread_id', 'thread'],
  ['video', 'video'],
  ['video_id', 'video'],
  ['characters', 'character'],
  ['character_ids', 'character'],
  ['voice', 'voice'],
  ['consent', 'voice_consent'],
])

/** Names of the provider's own, which nobody has made. */
const builtIn: Partial<Record<ObjectType, (id: string) => boolean>> = {
  conversation: (id) => id === 'auto' || id === 'none',
  container: (id) => id === 'auto',
  skill: (id) => !id.startsWith('skill_'),
  voice: (id) => !id.startsWith('voice_'),
}

/**
 * Whatever stands in these is the client's: its notes, the schemas of its functions and answers, headers for its own servers; or
 * only repeats where an answer came from.
 */
const opaque: ReadonlySet<string> = new Set([
  'metadata',
  // Codex tells of its own threads there.
  'client_metadata',
  'parameters',
  'schema',
  'headers',
  'annotations',
  'results',
])

/** Of the endpoints whose bodies may be large and mostly name nothing. */
const watched: Readonly<Record<string, WatchedNames>> = {
  chat: new WatchedNames(['file_id', 'audio']),
  responses: new WatchedNames([...named.keys(), 'id']),
}
/** Endpoints whose requests have no place for a reference. */
const without = new Set(['completions', 'embeddings', 'moderations', 'decisions', 'images.generations'])

/** For the scan of a body; null: it is read whatever stands in it. */
export function watchReferences({ endpoint }: Match): NameWatch | null {
  const names = watched[endpoint.operation]
  return names === undefined ? null : { names, seen: false }
}

export function references({ endpoint }: Match, body: Buffer): Reference[] | Fault {
  const { operation } = endpoint
  if (body.length === 0 || without.has(operation)) return []
  const tree = readTree(body)
  if (tree === null) return tooManyValues
  const found = new Map<string, Reference>()
  for (const name of collect(tree.root, operation)) {
    const key = `${name.type}\n${name.id}`
    if (name.input === true || !found.has(key)) found.set(key, name)
  }
  return [...found.values()]
}

/** Whoever listens in on a call names it in the handshake. */
export function queryReferences(query: string): ObjectName[] {
  const ids = new URLSearchParams(query).getAll('call_id')
  return [...new Set(ids)].map((id) => ({ type: 'call', id }))
}

function* collect(root: JsonTree, operation: string): Generator<Reference> {
  const waiting: JsonTree[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) for (const element of value) waiting.push(element)
    if (!(value instanceof JsonMembers)) continue
    for (const { name, written, value: member } of value.entries) {
      if (opaque.has(written)) continue
      const type = named.get(name)
      if (name === 'input_file_id') for (const { type, id } of namedBy('file', member)) yield { type, id, input: true }
      else if (type !== undefined) yield* namedBy(type, member)
      if (name === 'input' || name === 'items') yield* items(member)
      // Kept in the vendor's dashboard; elsewhere a prompt is a text.
      if (name === 'prompt' && member instanceof JsonMembers) yield* namedBy('prompt', member)
      // A message that says again what the model once said aloud.
      if (name === 'audio' && operation === 'chat') yield* namedBy('item', member, isAudioId)
      // The client gives these their names.
      if (written === 'variables' && member instanceof JsonMembers)
        for (const { value: each } of member.entries) waiting.push(each)
      else waiting.push(member)
    }
    if (value.texts('type').includes('file_id')) for (const id of value.texts('id')) yield { type: 'file', id }
  }
}

function* namedBy(
  type: ObjectType,
  value: JsonTree,
  isOne = (id: string) => !builtIn[type]?.(id),
): Generator<ObjectName> {
  const values = Array.isArray(value) ? value : [value]
  for (const one of values) {
    const ids = one instanceof JsonMembers ? one.texts('id') : typeof one === 'string' ? [one] : []
    for (const id of ids) if (id !== '' && isOne(id)) yield { type, id }
  }
}

function isAudioId(id: string): boolean {
  return id.startsWith('audio_')
}

/** What of a typed item stands in for the content that the provider would otherwise look up by its id. */
const contentOf: ReadonlyMap<string, string> = new Map([
  ['reasoning', 'encrypted_content'],
  ['image_generation_call', 'result'],
])

/**
 * Items that are given by their id alone; one that brings its content is the client's own, whatever id it shows. Of a repeated member
 * any may be the one that counts, and what is no text counts as none: only where each says so is the item taken for the client's.
 */
function* items(value: JsonTree): Generator<ObjectName> {
  if (!Array.isArray(value)) return
  for (const item of value)
    if (item instanceof JsonMembers && mayLookUp(item)) for (const id of item.texts('id')) yield { type: 'item', id }
}

function mayLookUp(item: JsonMembers): boolean {
  if (!item.has('type') && !brings(item, 'role')) return true
  return item.values('type').some((type) => {
    if (typeof type !== 'string' || type === 'item_reference') return true
    const content = contentOf.get(type)
    return content !== undefined && !brings(item, content)
  })
}

function brings(item: JsonMembers, name: string): boolean {
  return (
    item.has(name) &&
    item.values(name).every((value) => value === longText || (typeof value === 'string' && value !== ''))
  )
}
