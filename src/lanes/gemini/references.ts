import { type Fault, fault } from '../../core/errors.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import { ownValue } from '../../core/own-value.ts'
import { foldName, WatchedNames } from '../../core/watched-names.ts'
import type { Reference } from '../contract.ts'
import { walkMembers } from '../json-tree.ts'
import { readQuery } from '../query.ts'
import { fileName, fileReference, nameHandle } from './names.ts'

type ReadReference = (text: string) => ObjectName | null

const file: ReadReference = (text) => ({ type: 'file', id: fileName(text) })
const fileUri: ReadReference = (text) => named('file', fileReference(text))
const cache: ReadReference = (text) => ({ type: 'cached_content', id: inCollection('cachedContents', text) })
const store: ReadReference = (text) => ({ type: 'file_search_store', id: inCollection('fileSearchStores', text) })
const interaction: ReadReference = (id) => named('interaction', id)
const environment: ReadReference = (text) => named('environment', text.replace(/^environments\//, ''))

/** Names of members that refer to an object, folded, in both JSON spellings (wire/lanes.md, section 3.2). Source: the types of `@google/genai` 3. */
const readings: Readonly<Record<string, ReadReference>> = {
  cachedcontent: cache,
  cached_content: cache,
  environment,
  environmentid: environment,
  environment_id: environment,
  filename: file,
  file_name: file,
  filesearchstorenames: store,
  file_search_store_names: store,
  fileuri: fileUri,
  file_uri: fileUri,
  previousinteractionid: interaction,
  previous_interaction_id: interaction,
  // Content of an interaction, or the video that another one continues.
  uri: fileUri,
}

export const referringNames = new WatchedNames([...Object.keys(readings), 'handle', 'retrieval'])

/** The content of these members is the client's own: arguments and results of functions, labels, schemas of answers. */
const foreign = new Set([
  'args',
  'arguments',
  'env',
  'labels',
  'parameters',
  'parametersJsonSchema',
  'parameters_json_schema',
  'response',
  'responseJsonSchema',
  'responseSchema',
  'response_format',
  'response_json_schema',
  'response_schema',
])

const none: readonly Reference[] = []
/** In a batch these name its input file. */
const inputs = new Set(['filename', 'file_name'])

export function findReferences(query: string, body: Buffer): readonly Reference[] | Fault {
  return withQuery(query, body.length === 0 ? none : namedIn(body, false))
}

export function findBatchReferences(query: string, body: Buffer): readonly Reference[] | Fault {
  return withQuery(query, body.length === 0 ? none : namedIn(body, true))
}

/** Servers of this kind may read a member of the body from the query too, by its path. */
function withQuery(query: string, found: readonly Reference[] | Fault): readonly Reference[] | Fault {
  if (query === '' || 'code' in found) return found
  const named = [...readQuery(query)].flatMap(([path, text]) => {
    const reading = ownValue(readings, foldName(path.slice(path.lastIndexOf('.') + 1)))
    return (text === '' ? null : reading?.(text)) ?? []
  })
  return named.length === 0 ? found : [...found, ...named]
}

/** The members that contain the `handle` of a Live API session to resume. */
const resumptions = new Set(['sessionresumption', 'session_resumption'])
const longHandle = fault('invalid_request', 'The session handle is longer than any that a provider issues.')

/** `mayBeInput`: the body is a batch's. */
export function namedIn(body: Buffer, mayBeInput: boolean): Reference[] | Fault {
  const found: Reference[] = []
  let long = false
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name),
    text(name, value, parent) {
      const isHandle = name === 'handle' && resumptions.has(parent)
      const reading = ownValue(readings, name)
      if (value.isEmpty || (!isHandle && reading === undefined)) return
      const text = value.readId()
      if (isHandle && value.read() === null) long = true
      else if (isHandle) found.push(nameHandle(text))
      const object = reading?.(text) ?? null
      if (object === null) return
      found.push(mayBeInput && inputs.has(name) ? { ...object, input: true } : object)
    },
  })
  return wrong ?? (long ? longHandle : found)
}

function inCollection(collection: string, text: string): string {
  return text.startsWith(`${collection}/`) ? text : `${collection}/${text}`
}

function named(type: ObjectName['type'], id: string | null): ObjectName | null {
  return id === null || id === '' ? null : { type, id }
}
