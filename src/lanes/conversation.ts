import { bytesPerToken } from '../core/estimated-tokens.ts'
import { type Member, type Span, scanElements, scanObject, shortValue } from '../core/json-scan.ts'
import { asText, readValue } from '../core/json-value.ts'
import { knownSpans } from '../core/known-spans.ts'
import { ownValue } from '../core/own-value.ts'
import { WatchedNames } from '../core/watched-names.ts'
import type { SignedReasoning } from './reader-contract.ts'

/** What a provider's prompt cache goes by, and for how long it keeps it. */
export interface ConversationStart {
  /** The same for every call of a conversation. */
  text: string
  ttlMs: number
}

/** Members that stand at the beginning of a prompt, in all formats, in the order in which they count. */
const heads = ['tools', 'system', 'instructions', 'systemInstruction', 'system_instruction']
/** The conversation itself, of which the beginning counts, up to the first turn of the user. */
const turns = ['messages', 'input', 'contents', 'prompt']
const cacheKey = 'prompt_cache_key'
const retention = 'prompt_cache_retention'
const wanted = [...heads, ...turns, cacheKey, retention]
/** Of each part; what differs only behind it shares most of its prefix. */
const partBytes = 64 * 1024
/** Before the user's first there are one or two, of the system. */
const mostTurns = 8

/** How long a cache lasts where the request does not say. */
const usualTtlMs = 5 * 60_000
const ttls: Readonly<Record<string, number>> = {
  '5m': usualTtlMs,
  '30m': 30 * 60_000,
  '1h': 3_600_000,
  '12h': 12 * 3_600_000,
  '24h': 24 * 3_600_000,
}

/** Shorter prompts are cached nowhere. */
const leastTokens = 1024

export interface ConversationMarks {
  /** null: it is too short to be cached, or has no beginning. */
  start: ConversationStart | null
  /** The last that it holds; null: none that anybody checks. */
  signature: string | null
}

/** What of a call's body says which conversation it belongs to. `wantsStart` false: nobody asks how it begins. */
export function readConversation(body: Buffer, signed: SignedReasoning | null, wantsStart = true): ConversationMarks {
  const isLong = body.length >= leastTokens * bytesPerToken
  return {
    start: wantsStart && isLong ? conversationStart(body) : null,
    signature: signed !== null && mayBeSigned(body, signed) ? lastSignature(body, signed.names) : null,
  }
}

const signatureNames = new WatchedNames(['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content'])

/** Whether a body may hold signed reasoning. Of a large one it is known; a search for it would take long. */
export function mayBeSigned(body: Buffer, { hint }: SignedReasoning): boolean {
  return knownSpans(body)?.holds(signatureNames) ?? body.includes(hint)
}

/** null: the body has no beginning that could be cached. Without parsing it. */
function conversationStart(body: Buffer): ConversationStart | null {
  const scan = scanObject(body, wanted)
  if (!scan.ok) return null
  const find = (name: string) => scan.members.findLast((member) => member.name === name)
  const named = find(cacheKey)
  const kept = find(retention)
  const ttlMs = Math.max(
    longestMark(body),
    kept === undefined ? 0 : (ownValue(ttls, String(readValue(body, kept, shortValue))) ?? 0),
  )
  const key = named === undefined ? null : asText(readValue(body, named, shortValue))
  if (key !== null) return { text: `key ${key}`, ttlMs }
  const parts = heads.flatMap((name) => partOf(body, find(name)))
  for (const name of turns) parts.push(...firstTurns(body, find(name)))
  const text = parts.map(plainText).join('\n')
  return text.trim() === '' ? null : { text, ttlMs }
}

function partOf(body: Buffer, span: Span | undefined): string[] {
  return span === undefined ? [] : [body.toString('latin1', span.start, Math.min(span.end, span.start + partBytes))]
}

/** Up to the first turn of the user, or so many; of a prompt that is one text, all of it. */
function firstTurns(body: Buffer, member: Member | undefined): string[] {
  if (member === undefined) return []
  const elements = scanElements(body, member)?.slice(0, mostTurns)
  if (elements === undefined) return partOf(body, member)
  const first = elements.findIndex((element) => isUsers(body, element))
  return elements.slice(0, first < 0 ? mostTurns : first + 1).flatMap((element) => partOf(body, element))
}

/** Gemini's turns need not say whose they are. */
function isUsers(body: Buffer, element: Span): boolean {
  const scan = scanObject(body, ['role', 'parts'], element)
  if (!scan.ok) return true
  const role = scan.members.find(({ name }) => name === 'role')
  return role === undefined ? scan.members.length > 0 : readValue(body, role, shortValue) === 'user'
}

/**
 * What is left where the same text is written in another way: marks of the cache, which move on as a conversation grows, a text that
 * stands by itself or in a list of one part, and the line for Anthropic's billing that Claude Code changes with each request.
 */
const ways =
  /x-anthropic-billing-header:[^"\\]*|"(?:cache_control|prompt_cache_breakpoint)"\s*:\s*(?:\{[^{}]*\}|null)|"type"\s*:\s*"(?:text|input_text)"|"(?:text|content)"\s*:|[\s,[\]{}]/g

function plainText(part: string): string {
  return part.replace(ways, '')
}

const ttlName = '"ttl"'
const ttlNames = new WatchedNames(['ttl'])
/** More marks than any format allows. */
const mostMarks = 64

function longestMark(body: Buffer): number {
  if (knownSpans(body)?.holds(ttlNames) === false) return usualTtlMs
  let longest = usualTtlMs
  let at = body.indexOf(ttlName)
  for (let seen = 0; at >= 0 && seen < mostMarks; seen++, at = body.indexOf(ttlName, at + ttlName.length)) {
    const [, written = ''] = /^\s*:\s*"(\d{1,3}[mh])"/.exec(body.toString('latin1', at + 5, at + 32)) ?? []
    longest = Math.max(longest, ttls[written] ?? 0)
  }
  return longest
}

/** A schema may have a member of that name as well; so many places are looked at. */
const mostPlaces = 64
const shortestSignature = 16
/** The beginning of one differs from all others. */
const signatureBytes = 256

/** The last signature, by any of the names, that stands in the bytes; null: there is none. */
export function lastSignature(bytes: Buffer, names: readonly string[]): string | null {
  let found: { at: number; text: string } | null = null
  for (const name of names) {
    const quoted = `"${name}"`
    let at = bytes.lastIndexOf(quoted)
    for (let seen = 0; at >= 0 && seen < mostPlaces; seen++) {
      if (found !== null && at < found.at) break
      const text = signatureAt(bytes, at + quoted.length)
      if (text !== null) found = { at, text }
      if (text !== null || at === 0) break
      at = bytes.lastIndexOf(quoted, at - 1)
    }
  }
  return found?.text ?? null
}

/** The text behind a member's name: base64, which has no escapes. */
function signatureAt(bytes: Buffer, from: number): string | null {
  const text = bytes.toString('latin1', from, from + signatureBytes + 16)
  const [, value = ''] = /^\s*:\s*"([\w+/=.:-]+)/.exec(text) ?? []
  return value.length < shortestSignature ? null : value.slice(0, signatureBytes)
}
