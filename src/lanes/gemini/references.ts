import type { Fault } from '../../core/errors.ts'
import { WatchedNames } from '../../core/json-scan.ts'
import type { ObjectName } from '../../core/stored-object.ts'
import type { Match } from '../contract.ts'
import { walkMembers } from '../json-walk.ts'
import { fileName, fileReference } from './names.ts'

type Reading = (text: string) => ObjectName | null

const file: Reading = (text) => ({ type: 'file', id: fileName(text) })
const fileUri: Reading = (text) => named('file', fileReference(text))
const cache: Reading = (text) => ({ type: 'cached_content', id: inCollection('cachedContents', text) })
const store: Reading = (text) => ({ type: 'file_search_store', id: inCollection('fileSearchStores', text) })
const interaction: Reading = (id) => named('interaction', id)
const environment: Reading = (text) => named('environment', text.replace(/^environments\//, ''))

/** Names of members that refer to an object, in both JSON spellings (wire/lanes.md, 3.2). Source: the types of `@google/genai` 3. */
const readings: Readonly<Record<string, Reading>> = {
  cachedContent: cache,
  cached_content: cache,
  environment,
  environmentId: environment,
  environment_id: environment,
  fileName: file,
  file_name: file,
  fileSearchStoreNames: store,
  file_search_store_names: store,
  fileUri,
  file_uri: fileUri,
  previousInteractionId: interaction,
  previous_interaction_id: interaction,
  // Content of an interaction, and the video that another one goes on from.
  uri: fileUri,
}

export const referringNames = new WatchedNames(Object.keys(readings))

/** Below these stand the client's own names: what its functions take and give, labels, and forms of answers. */
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

const none: ObjectName[] = []

export function findReferences({ endpoint }: Match, _query: string, body: Buffer): ObjectName[] | Fault {
  if (!endpoint.takes.includes('json') || body.length === 0) return none
  const found: ObjectName[] = []
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name),
    text(name, text) {
      const reading = Object.hasOwn(readings, name) ? readings[name] : undefined
      const object = text === '' ? null : (reading?.(text) ?? null)
      if (object !== null) found.push(object)
    },
  })
  return wrong ?? found
}

function inCollection(collection: string, text: string): string {
  return text.startsWith(`${collection}/`) ? text : `${collection}/${text}`
}

function named(type: ObjectName['type'], id: string | null): ObjectName | null {
  return id === null || id === '' ? null : { type, id }
}
