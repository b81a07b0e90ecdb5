import type { NameWatch } from '../watched-names.ts'
import {
  countValues,
  hadTooManyValues,
  isSpace,
  sawSealed,
  skipNext,
  skipSpace,
  skipString,
  wantedName,
  watchName,
} from './json-walk.ts'
import { knownSpans, slicedBytes } from './known-spans.ts'

/**
 * Finds members of a JSON object in its bytes, without parsing or copying. The grammar is checked strictly
 * (RFC 8259) but for the inside of strings, where escapes and control characters are skipped unread unless a scan is strict.
 * Positions that mean "wrong here" are returned as `~offset`, a negative number.
 */
export interface Span {
  start: number
  end: number
}

/** In bytes. Values that are only meaningful if short are not read if they are longer. */
export const shortValue = 16 * 1024

/** Bytes, and the text that replaces them. */
export interface Edit {
  span: Span
  text: string
}

export interface Member {
  /** Unescaped. */
  name: string
  keyStart: number
  /** The value, its quotes or brackets included. */
  start: number
  end: number
}

/** With its quotes. */
export interface OddKey extends Span {
  meant: string
}

export type ObjectScan =
  /**
   * `start` is the opening brace, `end` the byte after the closing one; `members` are the wanted ones in order, repeated ones too. `odd`:
   * the last key that is a wanted name in other letters (`Model`), which some parsers take for the same and others do not.
   * `sealed`: some text in it may be a value that this gateway has sealed (sealed-mark.ts).
   */
  | { ok: true; start: number; end: number; empty: boolean; members: Member[]; odd: OddKey | null; sealed: boolean }
  /**
   * `at`: byte offset of what is wrong; the length of the input when it ends too early. `tooMany`: there stand more values, members or
   * names than are looked through.
   */
  | { ok: false; at: number; tooMany?: true }

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Beyond so many, what each costs in memory is a multiple of its bytes: whoever sends more means harm. */
export const maximumElements = 200_000
/** Of one object, of the wanted names. */
const maximumMembers = 10_000
/** Of all names of one object together, in bytes; counted while scanning, so that what is refused has cost no more. */
const maximumNames = 4 * 1024 * 1024
/** What a name counts at least: so no object has more than `maximumElements` members. */
const leastName = Math.ceil(maximumNames / maximumElements)

/**
 * Scans the one object that fills `range` (white space around it allowed; a byte order mark is not). `wanted` names are ASCII. `strict`:
 * strings are looked into as well, but for those of large values.
 */
export function scanObject(
  bytes: Buffer,
  wanted: readonly string[],
  range?: Span,
  watch: NameWatch | null = null,
  strict = false,
): ObjectScan {
  const end = range?.end ?? bytes.length
  const start = skipSpace(bytes, range?.start ?? 0, end)
  const members: Member[] = []
  if (start >= end || bytes[start] !== openBrace) return { ok: false, at: start }
  let at = skipSpace(bytes, start + 1, end)
  const empty = at < end && bytes[at] === closeBrace
  let odd: OddKey | null = null
  let names = maximumNames
  countValues()
  const known = bytes.length < slicedBytes ? undefined : knownSpans(bytes)
  // Of all of the document, also where only a part of it is scanned: whoever watches then looks once too often, and never too seldom.
  if (known !== undefined && watch !== null && !watch.seen) watch.seen = known.holds(watch.names)
  while (!empty) {
    const keyStart = at
    const keyLimit = Math.min(end, at + names)
    const keyEnd = at < end && bytes[at] === quote ? skipString(bytes, at + 1, keyLimit, strict) : ~at
    if (keyEnd === ~keyLimit && keyLimit < end) return { ok: false, at: keyStart, tooMany: true }
    if (keyEnd < 0) return { ok: false, at: ~keyEnd }
    names -= Math.max(keyEnd - keyStart, leastName)
    if (names < 0) return { ok: false, at: keyStart, tooMany: true }
    at = skipSpace(bytes, keyEnd, end)
    if (at >= end || bytes[at] !== colon) return { ok: false, at }
    const valueStart = skipSpace(bytes, at + 1, end)
    const valueEnd = skipNext(bytes, valueStart, end, watch, strict)
    if (valueEnd < 0)
      return hadTooManyValues() ? { ok: false, at: ~valueEnd, tooMany: true } : { ok: false, at: ~valueEnd }
    if (watch !== null && !watch.seen) watchName(watch, bytes, keyStart + 1, keyEnd - 1)
    const name = wantedName(bytes, keyStart + 1, keyEnd - 1, wanted)
    if (typeof name === 'string') members.push({ name, keyStart, start: valueStart, end: valueEnd })
    else if (name !== null) odd = { meant: name.odd, start: keyStart, end: keyEnd }
    if (members.length > maximumMembers) return { ok: false, at: keyStart, tooMany: true }
    at = skipSpace(bytes, valueEnd, end)
    if (at < end && bytes[at] === closeBrace) break
    if (at >= end || bytes[at] !== comma) return { ok: false, at }
    at = skipSpace(bytes, at + 1, end)
  }
  const after = skipSpace(bytes, at + 1, end)
  const sealed = known?.sealed ?? sawSealed()
  return after === end ? { ok: true, start, end: at + 1, empty, members, odd, sealed } : { ok: false, at: after }
}

/** The elements of the array that fills `range`; null when it is none, or of more than `maximumElements`. */
export function scanElements(bytes: Buffer, range: Span): Span[] | null {
  let at = skipSpace(bytes, range.start, range.end)
  if (bytes[at] !== openBracket) return null
  const elements: Span[] = []
  countValues()
  at = skipSpace(bytes, at + 1, range.end)
  if (bytes[at] === closeBracket) return elements
  for (;;) {
    const end = skipNext(bytes, at, range.end, null, false)
    if (end < 0) return null
    elements.push({ start: at, end })
    at = skipSpace(bytes, end, range.end)
    if (bytes[at] === closeBracket) return elements
    if (bytes[at] !== comma || elements.length === maximumElements) return null
    at = skipSpace(bytes, at + 1, range.end)
  }
}

/** What to cut so that the object reads as if the member had never been written: with the comma before it, or, where it is the first, the one after. */
export function cutSpan(bytes: Buffer, member: Member): Span {
  let before = member.keyStart - 1
  while (isSpace(bytes[before])) before--
  if (bytes[before] === comma) return { start: before, end: member.end }
  const after = skipSpace(bytes, member.end, bytes.length)
  return bytes[after] === comma
    ? { start: member.keyStart, end: skipSpace(bytes, after + 1, bytes.length) }
    : { start: member.keyStart, end: member.end }
}
