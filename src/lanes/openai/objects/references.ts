import type { Fault } from '../../../core/errors.ts'
import type { ObjectName, ObjectType } from '../../../core/objects/stored-object.ts'
import { WatchedNames } from '../../../core/watched-names.ts'
import type { Endpoint, Reference } from '../../contract.ts'
import { JsonMembers, JsonText, type JsonValue, readTree, tooManyValues } from '../../json-tree.ts'

/**
 * The members of this lane's requests that name objects: a string, a list of strings, or an object with an `id`.
 * Source: the request types of the vendor's SDK (wire/lanes.md, section 1.5).
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

/** Names of the provider's built-in objects, which nobody created. */
const builtIn: Partial<Record<ObjectType, (id: string) => boolean>> = {
  conversation: (id) => id === 'auto' || id === 'none',
  container: (id) => id === 'auto',
  skill: (id) => !id.startsWith('skill_'),
  voice: (id) => !id.startsWith('voice_'),
}

/**
 * The content of these members is the client's own (notes, schemas of functions and answers, headers for its own
 * servers), or repeats where an answer came from.
 */
const opaque: ReadonlySet<string> = new Set([
  'metadata',
  // Codex names its own threads there.
  'client_metadata',
  'parameters',
  'schema',
  'headers',
  'annotations',
  'results',
])

/** For chat, whose bodies may be large and mostly name no object. */
export const chatNames = new WatchedNames(['file_id', 'audio', 'authentication'])
/** The same for responses. */
export const responseNames = new WatchedNames([...named.keys(), 'id'])

const none: readonly Reference[] = []

/** For endpoints whose requests cannot refer to an object. */
export function findNoReferences(): readonly Reference[] {
  return none
}

export function findReferences(_query: string, body: Buffer): readonly Reference[] | Fault {
  return referencesIn(body, false)
}

/** A message may repeat earlier audio from the model by its id. */
export function findChatReferences(_query: string, body: Buffer): readonly Reference[] | Fault {
  return referencesIn(body, true)
}

function referencesIn(body: Buffer, withAudio: boolean): readonly Reference[] | Fault {
  if (body.length === 0) return none
  const tree = readTree(body)
  if (tree === null) return tooManyValues
  const found = new Map<string, Reference>()
  for (const name of collect(tree.root, withAudio)) {
    const key = `${name.type}\n${name.id}`
    if (name.input !== undefined || !found.has(key)) found.set(key, name)
  }
  return tree.texts.left < 0 ? tooManyValues : [...found.values()]
}

/** A handshake that joins a call names it. */
export function findQueryReferences(query: string): ObjectName[] {
  const ids = new URLSearchParams(query).getAll('call_id')
  return [...new Set(ids)].map((id) => ({ type: 'call', id }))
}

function* collect(root: JsonValue, withAudio: boolean): Generator<Reference> {
  const waiting: JsonValue[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) for (const element of value) waiting.push(element)
    if (!(value instanceof JsonMembers)) continue
    for (const { name, written, value: member } of value.entries) {
      if (opaque.has(written)) continue
      const type = named.get(name)
      if (name === 'input_file_id') for (const { type, id } of namedBy('file', member)) yield { type, id, input: true }
      else if (type !== undefined) yield* namedBy(type, member)
      if (name === 'input' || name === 'items') yield* items(member)
      // A prompt from the vendor's dashboard; elsewhere a prompt is a string.
      if (name === 'prompt' && member instanceof JsonMembers) yield* namedBy('prompt', member)
      if (name === 'audio' && withAudio && member instanceof JsonMembers) yield* namedBy('item', member)
      // The client chooses these names.
      if (written === 'variables' && member instanceof JsonMembers)
        for (const { value: each } of member.entries) waiting.push(each)
      else waiting.push(member)
    }
    if (value.texts('type').includes('file_id'))
      for (const id of value.texts('id')) yield { type: 'file', id, input: 'items' }
  }
}

function* namedBy(
  type: ObjectType,
  value: JsonValue,
  isOne = (id: string) => !builtIn[type]?.(id),
): Generator<ObjectName> {
  const values = Array.isArray(value) ? value : [value]
  for (const one of values) {
    const ids = one instanceof JsonMembers ? one.texts('id') : one instanceof JsonText ? [one.readId()] : []
    for (const id of ids) if (id !== '' && isOne(id)) yield { type, id }
  }
}

/**
 * For a type of items: whether one holds the content which the provider would otherwise look up by the id. Servers that
 * show their reasoning take it back as `content`, with `encrypted_content: null`.
 */
const holdsContent: ReadonlyMap<string, (item: JsonMembers) => boolean> = new Map([
  ['reasoning', (item) => hasText(item, 'encrypted_content') || hasReasoningText(item)],
  ['image_generation_call', (item) => hasText(item, 'result')],
])

/**
 * Items that are given by their id alone. An item with content is the client's own, whatever its id. Of a repeated
 * member any may count, and a value that is not a string counts as none: an item is the client's own only if every one
 * of them says so.
 */
function* items(value: JsonValue): Generator<ObjectName> {
  if (!Array.isArray(value)) return
  for (const item of value)
    if (item instanceof JsonMembers && mayLookUp(item))
      for (const id of item.texts('id')) if (!ownReasoning.test(id)) yield { type: 'item', id }
}

/** Reasoning of a translated answer has an id that no provider gives (`src/translate/responses/response-ids.ts`). */
const ownReasoning = /^rs_sp_[a-z2-7]{24}$/

function mayLookUp(item: JsonMembers): boolean {
  if (!item.has('type') && !hasText(item, 'role')) return true
  return item.values('type').some((value) => {
    const type = value instanceof JsonText ? value.read() : null
    if (type === null || type === 'item_reference') return true
    return holdsContent.get(type)?.(item) === false
  })
}

function hasText(item: JsonMembers, name: string): boolean {
  return item.has(name) && item.values(name).every((value) => value instanceof JsonText && !value.isEmpty)
}

function hasReasoningText(item: JsonMembers): boolean {
  return item.has('content') && item.values('content').every(isReasoningText)
}

function isReasoningText(value: JsonValue): boolean {
  if (!Array.isArray(value) || value.length === 0) return false
  return value.every(
    (part) =>
      part instanceof JsonMembers &&
      hasText(part, 'text') &&
      part.texts('type').length === 1 &&
      part.texts('type')[0] === 'reasoning_text',
  )
}

/**
 * Fields of a form that name an object, by the beginning of their names: SDKs and clients spell the rest in many ways.
 */
export type FormObjects = Readonly<Record<string, ObjectType>>

/** In the form of `FormFields.early`. */
export function referringFields(objects: FormObjects): string[] {
  return Object.keys(objects).map((root) => `${root}*`)
}

export function formReferences(objects: FormObjects): Endpoint['formReferences'] {
  const types = new Map(Object.entries(objects))
  return (fields) =>
    fields.flatMap(({ name, value }) => {
      const type = types.get(/^[^[.]*/.exec(name)?.[0] ?? '')
      return type === undefined ? [] : readIds(value).map((id) => ({ type, id }))
    })
}

/** The value itself, or the ids in it where it is JSON. */
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
function idsIn(value: JsonValue): string[] {
  if (value instanceof JsonText) return value.isEmpty ? [] : [value.readId()]
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!(value instanceof JsonMembers)) return []
  return value.entries.flatMap(({ name, value: member }) =>
    member instanceof JsonText && name !== 'id' && name !== 'file_id' ? [] : idsIn(member),
  )
}
