import { createHash } from 'node:crypto'
import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'

/** A model's resource name: `models/x`, unless the name has another collection. */
export function resourceName(model: string): string {
  return model.startsWith('models/') || model.startsWith('tunedModels/') ? model : `models/${model}`
}

/**
 * The model's name without `models/`; a tuned model keeps its collection. Null: not a name. Segments that a server
 * could resolve (`.`, `..`) would let a name mean another model than the one that was checked.
 */
export function modelName(resource: string): string | null {
  const name = resource.replace(/^(?:models\/)+/, '')
  const segments = name.split('/')
  return segments.some((segment) => segment === '' || segment === '.' || segment === '..') ? null : name
}

const collections: ReadonlyMap<string, ObjectType> = new Map([
  ['batches', 'batch'],
  ['cachedContents', 'cached_content'],
  ['environments', 'environment'],
  ['fileSearchStores', 'file_search_store'],
  ['files', 'file'],
  ['interactions', 'interaction'],
  ['tunedModels', 'tuned_model'],
])

const underOperations = /(?:^|\/)operations\/[^/]+$/

/** The object of a resource name; null for types that are not tracked. */
export function nameObject(name: string): ObjectName | null {
  if (underOperations.test(name)) return { type: 'operation', id: name }
  const [collection = '', id, ...more] = name.split('/')
  const type = collections.get(collection)
  return type === undefined || id === undefined || id === '' || more.length > 0 ? null : { type, id: name }
}

/** A session's handle gives access to the session: only its digest is used, and the handle is stored nowhere. */
export function nameHandle(handle: string): ObjectName {
  return { type: 'session_handle', id: createHash('sha256').update(handle).digest('hex') }
}

/** `files/abc` for both `files/abc` and `abc`, which this provider accepts. */
export function fileName(text: string): string {
  return text.startsWith('files/') ? text : `files/${text}`
}

const googleHost = /^(?:[a-z0-9-]+\.)*generativelanguage(?:\.[a-z0-9-]+)*\.googleapis\.com(?::\d+)?$/i
const exactName = /^files\/[\w-]+$/
const exactUri =
  /^https?:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d+)?\/(?:[\w-][\w.~-]*\/)*v\d[a-z0-9]*\/(files\/[\w-]+)(?::download)?(?:\?[\w=&.:-]*)?$/

/**
 * The file that a URI means: a bare name, or a URI of the provider, of this gateway, or below a version at another base
 * URL; null where it means none.
 */
export function fileOfUri(uri: string): string | null {
  return exactName.test(uri) ? uri : (exactUri.exec(uri)?.[1] ?? null)
}

/**
 * The file that a client's URI refers to. A URI that only resembles a file's is returned as the name, which belongs to
 * nobody: how the provider would read it is unknown. Null for any other web page.
 */
export function fileReference(uri: string): string | null {
  return fileOfUri(uri) ?? (looksLikeFile(uri) ? uri : null)
}

/** Whether the URI is on the provider's own host, in a plain spelling. */
export function isGoogle(uri: string): boolean {
  const host = /^https?:\/\/([\w.:-]+)(?:[/?#][\x21-\x5b\x5d-\x7e]*)?$/.exec(uri)?.[1]
  return host !== undefined && googleHost.test(host)
}

const absolute = /^[a-z][a-z0-9+.-]*:/
const pageOfHost = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:[/?#:]|$)/
const versionedFiles = /\/v\d[a-z0-9]*\/files(?:[/?#]|$)/

function looksLikeFile(uri: string): boolean {
  const text = flatten(uri)
  if (!absolute.test(text) && !pageOfHost.test(text)) return true
  const [, authority = '', path = ''] = /^(?:[a-z][a-z0-9+.-]*:)?\/*([^/?#]*)(.*)$/s.exec(text) ?? []
  // No host has so long a name: what is behind it may have been cut off.
  if (authority.length > 255 || /generativelanguage.*googleapis/s.test(authority)) return true
  return versionedFiles.test(path) || versionedFiles.test(resolveDots(path))
}

/** Undoes escapes, and everything that URL parsers remove or treat as something else. */
function flatten(uri: string): string {
  let text = uri
  for (let layer = 0; layer < escapeLayers && text.includes('%'); layer++) text = decoded(text)
  return text
    .normalize('NFKC')
    .replace(/[\s\p{C}]/gu, '')
    .replaceAll('\\', '/')
    .replace(/(?<!:)\/{2,}/g, '/')
    .toLowerCase()
}

const escapeLayers = 4

function resolveDots(path: string): string {
  return URL.parse(path.replace(/^\/*/, '/'), 'http://host')?.pathname ?? path
}

/** Decodes escape by escape, since one of them may be malformed. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}
