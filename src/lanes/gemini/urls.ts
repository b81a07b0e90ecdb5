import { asObject, type JsonObject, parseObject } from '../../core/json-value.ts'
import type { LaneUrls } from '../contract.ts'
import { editMembers, editTexts } from '../text-members.ts'
import { others } from './created-objects.ts'
import { isGoogle } from './names.ts'

/** Members in which the URI of a file stands, both spellings. Source: wire/lanes.md, section 3.6. */
const names = ['uri', 'fileUri', 'file_uri', 'downloadUri', 'download_uri']

/** With which all of them end, unless a letter is escaped: nearly every answer has neither. */
const nameEnd = Buffer.from('ri"')
const escapedAscii = Buffer.from('\\u00')

/** Below a provider's origin or base URL: what a client follows with its credential. */
const followed = /^\/(?:download\/)?v\d[a-z0-9]*\/(?:files\/|fileSearchStores\/[^/?#]+\/media\/)/

/** Behind any host: a file, or its bytes. */
const filePath = /\/(?:download\/)?v\d[a-z0-9]*\/files\/[\w-]+(?::download)?$/

/** In an answer: they lead back here. Links to pages (grounding redirects, documentation) stand elsewhere and pass. */
export function rewriteAnswerUrls(body: Buffer, urls: LaneUrls): Buffer {
  if (!body.includes(nameEnd) && !body.includes(escapedAscii)) return body
  const strange = findStrange(body, urls)
  const safe = strange.size === 0 ? body : editMembers(body, names, (uri) => strange.get(uri))
  return exchange(safe, urls.provider, urls.lane)
}

/** In a request: the provider knows only its own. */
export function rewriteRequestUrls(body: Buffer, { lane, provider }: LaneUrls): Buffer {
  return exchange(body, lane, provider)
}

function exchange(body: Buffer, from: string, to: string): Buffer {
  if (!body.includes(from)) return body
  return editTexts(body, names, (uri) => {
    if (!uri.startsWith(from)) return null
    const rest = uri.slice(from.length)
    return followed.test(rest) ? to + rest : null
  })
}

/** An answer is a provider's, so its depth is its own. */
const deepest = 32

/**
 * URIs of files and videos at hosts that have nothing to do with it, to which a client would carry its gateway key; with what stands in
 * their place: the same file at this lane, or null. Source: docs/decisions/0033.
 */
function findStrange(body: Buffer, urls: LaneUrls): Map<unknown, string | null> {
  const found = new Map<unknown, string | null>()
  look({ value: parseObject(body), name: '', depth: 0 }, urls, found)
  return found
}

interface Place {
  value: unknown
  /** The member in which it stands, arrays passed through. */
  name: string
  depth: number
}

function look({ value, name, depth }: Place, urls: LaneUrls, found: Map<unknown, string | null>): void {
  if (depth > deepest) return
  if (Array.isArray(value)) {
    for (const element of value) look({ value: element, name, depth: depth + 1 }, urls, found)
    return
  }
  const object = asObject(value)
  if (object === null) return
  for (const [key, member] of Object.entries(object)) {
    if (names.includes(key) && isFollowed(key, name, object)) {
      if (!isKnown(member, urls)) found.set(member, leadBack(member, key, object, urls.lane))
    } else if (!others.has(key)) look({ value: member, name: key, depth: depth + 1 }, urls, found)
  }
}

/** A file's or a video's own URI, other than one that cites a page or names what the client gave. */
function isFollowed(key: string, holder: string, object: JsonObject): boolean {
  if (/^download/.test(key)) return true
  return key === 'uri' && (holder === 'file' || holder === 'video' || fileNamed(object) !== null)
}

function fileNamed({ name }: JsonObject): string | null {
  return typeof name === 'string' && /^files\/[\w-]+$/.test(name) ? name : null
}

function isKnown(uri: unknown, { lane, provider }: LaneUrls): boolean {
  if (typeof uri !== 'string') return true
  if (uri === '' || /^(?:files|gs:\/)\/[\w./-]+$/.test(uri)) return true
  return [lane, provider].some((base) => uri.startsWith(`${base}/`)) || isGoogle(uri)
}

function leadBack(uri: unknown, key: string, object: JsonObject, lane: string): string | null {
  const url = typeof uri === 'string' ? URL.parse(uri) : null
  const path = url === null ? undefined : filePath.exec(url.pathname)?.[0]
  if (path !== undefined) return lane + path + url!.search
  const name = fileNamed(object)
  if (name === null) return null
  return key === 'uri' ? `${lane}/v1beta/${name}` : `${lane}/download/v1beta/${name}:download?alt=media`
}
