import { asObject, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { LaneUrls } from '../contract.ts'
import { editMembers, editTexts } from '../text-members.ts'
import { others } from './created-objects.ts'
import { isGoogle } from './names.ts'

/** Members that contain the URI of a file, in both spellings. Source: wire/lanes.md, section 3.6. */
const names = ['uri', 'fileUri', 'file_uri', 'downloadUri', 'download_uri']

/** They all end with one of these, unless a letter is escaped. Nearly every answer has neither. */
const nameEnd = Buffer.from('ri"')
const escapedAscii = Buffer.from('\\u00')

/** Paths below a provider's origin or base URL that a client follows with its credential. */
const followed = /^\/(?:download\/)?v\d[a-z0-9]*\/(?:files\/|fileSearchStores\/[^/?#]+\/media\/)/

/** Paths at any host that mean a file, or its bytes. */
const filePath = /\/(?:download\/)?v\d[a-z0-9]*\/files\/[\w-]+(?::download)?$/

/**
 * In an answer: become URLs of this gateway. Links to pages (grounding redirects, documentation) are in other members
 * and stay.
 */
export function rewriteAnswerUrls(body: Buffer, urls: LaneUrls): Buffer {
  if (!body.includes(nameEnd) && !body.includes(escapedAscii)) return body
  const strange = findStrange(body, urls)
  const safe = strange.size === 0 ? body : editMembers(body, names, (uri) => strange.get(uri))
  return exchange(safe, urls.provider, urls.lane)
}

/** In a request: become the provider's own, the only ones that it knows. */
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

/** A provider chooses an answer's depth. */
const deepest = 32

/**
 * URIs of files and videos at unrelated hosts, to which a client would send its gateway key, with their replacement:
 * the same file at this lane, or null. Source: docs/decisions/0033.
 */
function findStrange(body: Buffer, urls: LaneUrls): Map<unknown, string | null> {
  const found = new Map<unknown, string | null>()
  look({ value: parseObject(body), name: '', depth: 0 }, urls, found)
  return found
}

interface Position {
  value: unknown
  /** The member that contains it; arrays are not counted. */
  name: string
  depth: number
}

function look({ value, name, depth }: Position, urls: LaneUrls, found: Map<unknown, string | null>): void {
  if (depth > deepest) return
  if (Array.isArray(value)) {
    for (const element of value) look({ value: element, name, depth: depth + 1 }, urls, found)
    return
  }
  const object = asObject(value)
  if (object === null) return
  for (const [key, member] of Object.entries(object)) {
    if (names.includes(key) && isFollowed(key, name, object)) {
      if (!isKnown(member, urls)) found.set(member, urlAtLane(member, key, object, urls.lane))
    } else if (!others.has(key)) look({ value: member, name: key, depth: depth + 1 }, urls, found)
  }
}

/** A URI of a file or video itself, not one that cites a page or repeats the client's input. */
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

function urlAtLane(uri: unknown, key: string, object: JsonObject, lane: string): string | null {
  const url = typeof uri === 'string' ? URL.parse(uri) : null
  const [path] = (url === null ? null : filePath.exec(url.pathname)) ?? []
  if (url !== null && path !== undefined) return lane + path + url.search
  const name = fileNamed(object)
  if (name === null) return null
  return key === 'uri' ? `${lane}/v1beta/${name}` : `${lane}/download/v1beta/${name}:download?alt=media`
}
