import type { ObjectName, ObjectType } from '../../core/stored-object.ts'

const collections: Record<string, ObjectType> = {
  batches: 'batch',
  cachedContents: 'cached_content',
  environments: 'environment',
  fileSearchStores: 'file_search_store',
  files: 'file',
  interactions: 'interaction',
  tunedModels: 'tuned_model',
}

const underOperations = /(?:^|\/)operations\/[^/]+$/

/** What a resource name names; null for what nobody keeps account of. */
export function nameObject(name: string): ObjectName | null {
  if (underOperations.test(name)) return { type: 'operation', id: name }
  const [collection = '', id, ...more] = name.split('/')
  const type = collections[collection]
  return type === undefined || id === undefined || id === '' || more.length > 0 ? null : { type, id: name }
}

/** `files/abc` for `files/abc` and for `abc`, the way this provider takes both. */
export function fileName(text: string): string {
  return text.startsWith('files/') ? text : `files/${text}`
}

const googleHost = /^(?:[a-z0-9-]+\.)*generativelanguage(?:\.[a-z0-9-]+)*\.googleapis\.com(?::\d+)?$/i
const versioned = /(?:^|\/)v\d[a-z0-9]*\/files\/([^/:?#]+)/
const anywhere = /(?:^|\/)files\/([^/:?#]+)/

/**
 * The file that a URI leads to; null when it leads to none of this provider's. On the provider's own host whatever looks like
 * a file is one; elsewhere (this gateway, a base URL of its own) only below a version, since clients may name any page of the web.
 */
export function fileOfUri(uri: string): string | null {
  const text = decoded(uri)
  const [, host, path = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/is.exec(text) ?? []
  const form = host === undefined || googleHost.test(host) ? anywhere : versioned
  const id = form.exec(path)?.[1]
  return id === undefined ? null : `files/${id}`
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}
