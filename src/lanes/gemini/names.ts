import { createHash } from 'node:crypto'
import type { ObjectName, ObjectType } from '../../core/stored-object.ts'

/** A model's resource name: `models/x` unless the name says another collection. */
export function resourceName(model: string): string {
  return model.startsWith('models/') || model.startsWith('tunedModels/') ? model : `models/${model}`
}

/**
 * What people call the model: without `models/`; a tuned model keeps its collection. Null: no name. Segments that a
 * server on the way might resolve would let a name mean another than the one that was checked.
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

/** What a resource name names; null for what nobody keeps account of. */
export function nameObject(name: string): ObjectName | null {
  if (underOperations.test(name)) return { type: 'operation', id: name }
  const [collection = '', id, ...more] = name.split('/')
  const type = collections.get(collection)
  return type === undefined || id === undefined || id === '' || more.length > 0 ? null : { type, id: name }
}

/** Whoever has a session's handle has the session: it is known by its digest, and kept nowhere. */
export function nameHandle(handle: string): ObjectName {
  return { type: 'session_handle', id: createHash('sha256').update(handle).digest('hex') }
}

/** `files/abc` for `files/abc` and for `abc`, the way this provider takes both. */
export function fileName(text: string): string {
  return text.startsWith('files/') ? text : `files/${text}`
}

const googleHost = /^(?:[a-z0-9-]+\.)*generativelanguage(?:\.[a-z0-9-]+)*\.googleapis\.com(?::\d+)?$/i
const exactName = /^files\/[\w-]+$/
const exactUri =
  /^https?:\/\/(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::\d+)?\/(?:[\w-][\w.~-]*\/)*v\d[a-z0-9]*\/(files\/[\w-]+)(?::download)?(?:\?[\w=&.:-]*)?$/

/** The file that a URI leads to, of this provider's or below a version elsewhere (this gateway, a base URL of its own); null where it leads to none. */
export function fileOfUri(uri: string): string | null {
  return exactName.test(uri) ? uri : (exactUri.exec(uri)?.[1] ?? null)
}

/**
 * The file that a client's URI refers to. What looks like one without being exactly one is itself the name, which nobody's file has: how
 * the provider would read it cannot be known here. Null for any other page of the web.
 */
export function fileReference(uri: string): string | null {
  return fileOfUri(uri) ?? (looksLikeFile(uri) ? uri : null)
}

/** Whether the URI is on the provider's own host, in no odd spelling. */
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
  if (/generativelanguage.*googleapis/s.test(authority)) return true
  return versionedFiles.test(path) || versionedFiles.test(resolveDots(path))
}

/** Escapes, and what URL parsers take away or take for something else, are undone. */
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

/** Escape by escape, since a malformed one may stand beside others. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}
