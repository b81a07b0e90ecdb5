import { bytesPerToken } from '../core/cost/estimated-tokens.ts'
import { type Member, type Span, scanElements, scanObject, shortValue } from '../core/json/json-scan.ts'
import { asText, readValue } from '../core/json/json-value.ts'
import { knownSpans } from '../core/json/known-spans.ts'
import { ownValue } from '../core/own-value.ts'
import { WatchedNames } from '../core/watched-names.ts'
import type { SignedReasoning } from './reader-contract.ts'

/** The part of a prompt that identifies it for a provider's prompt cache, and how long the cache keeps it. */
export interface ConversationStart {
  /** The same for every call of a conversation. */
  text: string
  ttlMs: number
}

/** Members at the beginning of a prompt, in all formats, in their order in the prompt. */
const heads = ['tools', 'system', 'instructions', 'systemInstruction', 'system_instruction']
/** Members with the conversation itself. Only its beginning counts, up to the user's first turn. */
const turns = ['messages', 'input', 'contents', 'prompt']
const cacheKey = 'prompt_cache_key'
const retention = 'prompt_cache_retention'
const wanted = [...heads, ...turns, cacheKey, retention]
/** How much of each part is used: prompts that differ only after that share most of their prefix. */
const partBytes = 64 * 1024
/** At most this many turns of the system come before the user's first. */
const mostTurns = 8

/** How long a cache lasts if the request does not say. */
const usualTtlMs = 5 * 60_000
const ttls: Readonly<Record<string, number>> = {
  '5m': usualTtlMs,
  '30m': 30 * 60_000,
  '1h': 3_600_000,
  '12h': 12 * 3_600_000,
  '24h': 24 * 3_600_000,
}

/** No provider caches shorter prompts. */
const leastTokens = 1024

export interface ConversationMarks {
  /** null: the prompt is too short to be cached, or has no beginning. */
  start: ConversationStart | null
  /** The last signature in the body; null: none that a provider checks. */
  signature: string | null
}

/** Finds what identifies the conversation of a call's body. `wantsStart` false: only the signature is needed. */
export function readConversation(body: Buffer, signed: SignedReasoning | null, wantsStart = true): ConversationMarks {
  const isLong = body.length >= leastTokens * bytesPerToken
  return {
    start: wantsStart && isLong ? conversationStart(body) : null,
    signature: signed !== null && mayBeSigned(body, signed) ? lastSignature(body, signed.names) : null,
  }
}

const signatureNames = new WatchedNames(['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content'])

/** Whether a body may contain signed reasoning. Large bodies are assumed to, since searching them would take long. */
export function mayBeSigned(body: Buffer, { hint }: SignedReasoning): boolean {
  return knownSpans(body)?.holds(signatureNames) ?? body.includes(hint)
}

/** Reads the beginning without parsing the body. null: it has none that could be cached. */
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

/** The turns up to the user's first, or the maximum number; all of a prompt that is a plain string. */
function firstTurns(body: Buffer, member: Member | undefined): string[] {
  if (member === undefined) return []
  const elements = scanElements(body, member)?.slice(0, mostTurns)
  if (elements === undefined) return partOf(body, member)
  const first = elements.findIndex((element) => isUsers(body, element))
  return elements.slice(0, first < 0 ? mostTurns : first + 1).flatMap((element) => partOf(body, element))
}

/** Gemini's turns may leave the role out. */
function isUsers(body: Buffer, element: Span): boolean {
  const scan = scanObject(body, ['role', 'parts'], element)
  if (!scan.ok) return true
  const role = scan.members.find(({ name }) => name === 'role')
  return role === undefined ? scan.members.length > 0 : readValue(body, role, shortValue) === 'user'
}

/**
 * Removes differences that do not change the prompt: cache marks, which move as a conversation grows; a text alone or as the only part of a
 * list; and the billing line that Claude Code changes with each request.
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

/** How many places are tried: a schema may have a member of the same name. */
const mostPlaces = 64
const shortestSignature = 16
/** The beginning of a signature is unique. */
const signatureBytes = 256

/** The last signature in the bytes, under any of the names; null: there is none. */
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

/** The text after a member's name: base64, which contains no escapes. */
function signatureAt(bytes: Buffer, from: number): string | null {
  const text = bytes.toString('latin1', from, from + signatureBytes + 16)
  const [, value = ''] = /^\s*:\s*"([\w+/=.:-]+)/.exec(text) ?? []
  return value.length < shortestSignature ? null : value.slice(0, signatureBytes)
}
