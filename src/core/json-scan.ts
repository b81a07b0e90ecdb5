import { decodeName, letterBytes, letters, mostLetters, wasAscii } from './bytes/member-name.ts'
import { foldsToAscii, type NameWatch } from './watched-names.ts'

/**
 * Finds members of a JSON object in its bytes, without parsing or copying. The grammar is checked strictly
 * (RFC 8259) but for the inside of strings, where escapes and control characters are skipped unread unless a scan is strict.
 * Positions that mean "wrong here" are returned as `~offset`, a negative number.
 */
export interface Span {
  start: number
  end: number
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
   */
  | { ok: true; start: number; end: number; empty: boolean; members: Member[]; odd: OddKey | null }
  /**
   * `at`: byte offset of what is wrong; the length of the input when it ends too early. `tooMany`: there stand more values, members or
   * names than are looked through.
   */
  | { ok: false; at: number; tooMany?: true }

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Beyond so many, what each costs in memory is a multiple of its bytes: whoever sends more means harm. */
export const maximumElements = 200_000
/** Of one body, at whatever depth: so many no request means, and each costs time that its bytes do not show. */
export const maximumValues = 3_000_000
/** Of one object, of the wanted names. */
const maximumMembers = 10_000
/** Of all names of one object together, in bytes; counted while scanning, so that what is refused has cost no more. */
const maximumNames = 4 * 1024 * 1024
/** What a name counts at least: so no object has more than `maximumElements` members. */
const leastName = Math.ceil(maximumNames / maximumElements)

/** Deeper nesting is refused: no real body has it, and it bounds the stack below. */
export const maximumDepth = 10_000

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
  valuesLeft = maximumValues
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
    if (valueEnd < 0) return valuesLeft < 0 ? { ok: false, at: ~valueEnd, tooMany: true } : { ok: false, at: ~valueEnd }
    if (watch !== null && !watch.seen) look(watch, bytes, keyStart + 1, keyEnd - 1)
    const name = wantedName(bytes, keyStart + 1, keyEnd - 1, wanted)
    if (typeof name === 'string') members.push({ name, keyStart, start: valueStart, end: valueEnd })
    else if (name !== null) odd = { meant: name.inOtherLetters, start: keyStart, end: keyEnd }
    if (members.length > maximumMembers) return { ok: false, at: keyStart, tooMany: true }
    at = skipSpace(bytes, valueEnd, end)
    if (at < end && bytes[at] === closeBrace) break
    if (at >= end || bytes[at] !== comma) return { ok: false, at }
    at = skipSpace(bytes, at + 1, end)
  }
  const after = skipSpace(bytes, at + 1, end)
  return after === end ? { ok: true, start, end: at + 1, empty, members, odd } : { ok: false, at: after }
}

/** The elements of the array that fills `range`; null when it is none, or of more than `maximumElements`. */
export function scanElements(bytes: Buffer, range: Span): Span[] | null {
  let at = skipSpace(bytes, range.start, range.end)
  if (bytes[at] !== openBracket) return null
  const elements: Span[] = []
  valuesLeft = maximumValues
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

/** One stack for all calls: scanning is synchronous and never re-entered. */
const containers = new Uint8Array(maximumDepth)
/** How many more values the scan under way may pass; below zero it was stopped for having too many. */
let valuesLeft = 0

/** With more than this before the end, a value may be large. */
const largeBytes = 16 * 1024

/** The index after the value that starts at `at`, or `~offset` of what is wrong, too many values too. */
export function skipValue(bytes: Buffer, at: number, end: number = bytes.length): number {
  valuesLeft = maximumValues
  return skipNext(bytes, at, end, null, false)
}

/** Iterative: nesting costs no call stack. */
function skipNext(bytes: Buffer, at: number, end: number, watch: NameWatch | null, strict: boolean): number {
  const isStrict = strict && end - at <= largeBytes
  let depth = 0
  let inObject = false
  let index = at
  for (;;) {
    index = skipSpace(bytes, index, end)
    if (index >= end) return ~end
    if (--valuesLeft < 0) return ~index
    const byte = bytes[index]
    let isOpen = false
    if (byte === openBrace || byte === openBracket) {
      if (depth === maximumDepth) return ~index
      containers[depth++] = byte
      inObject = byte === openBrace
      index = skipSpace(bytes, index + 1, end)
      isOpen = index < end && bytes[index] !== (inObject ? closeBrace : closeBracket)
    } else {
      index = byte === quote ? skipString(bytes, index + 1, end, isStrict) : skipScalar(bytes, index, end)
      if (index < 0) return index
    }
    while (!isOpen) {
      if (depth === 0) return index
      index = skipSpace(bytes, index, end)
      if (index >= end) return ~end
      const next = bytes[index]
      if (next !== comma && next !== (inObject ? closeBrace : closeBracket)) return ~index
      index++
      if (next === comma) break
      depth--
      inObject = depth > 0 && containers[depth - 1] === openBrace
    }
    if (!inObject) continue
    index = skipKey(bytes, skipSpace(bytes, index, end), end, watch, isStrict)
    if (index < 0) return index
  }
}

/** With the colon behind it. */
function skipKey(bytes: Buffer, at: number, end: number, watch: NameWatch | null, strict: boolean): number {
  if (at >= end || bytes[at] !== quote) return ~at
  const keyEnd = skipString(bytes, at + 1, end, strict)
  if (keyEnd < 0) return keyEnd
  if (watch !== null && !watch.seen) look(watch, bytes, at + 1, keyEnd - 1)
  const index = skipSpace(bytes, keyEnd, end)
  return index < end && bytes[index] === colon ? index + 1 : ~index
}

/** `inOtherLetters`: the wanted name that some parsers take this key for, and others do not. */
type WantedName = string | { inOtherLetters: string } | null

/**
 * The wanted name that a key is, in whatever spelling: escapes, other letters, characters beyond ASCII that fold to its letters. A key is
 * decoded only as far as it can still be a wanted name.
 */
function wantedName(bytes: Buffer, start: number, end: number, wanted: readonly string[]): WantedName {
  const length = end - start
  let longest = 0
  let isAsLong = false
  for (const name of wanted) {
    if (name.length > longest) longest = name.length
    if (name.length !== length) continue
    if (hasText(bytes, start, name)) return name
    isAsLong = true
  }
  if (length > longest * letterBytes) return null
  if (isPlain(bytes, start, end)) return isAsLong ? inOtherLetters(bytes, start, length, wanted) : null
  const count = decodeName(bytes, start, end, Math.min(longest, mostLetters))
  if (count < 0) return null
  if (wasAscii()) for (const name of wanted) if (name.length === count && hasText(letters, 0, name)) return name
  return inOtherLetters(letters, 0, count, wanted)
}

function inOtherLetters(bytes: Uint8Array, start: number, length: number, wanted: readonly string[]): WantedName {
  for (const name of wanted) if (isSpelledAs(bytes, start, length, name)) return { inOtherLetters: name }
  return null
}

function hasText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let offset = 0; offset < text.length; offset++) {
    if (bytes[start + offset] !== text.charCodeAt(offset)) return false
  }
  return true
}

/** Whether a key is written in ASCII and without escapes. */
export function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the bytes do, and runs for every byte of a key
    const byte = bytes[index]!
    if (byte === backslash || byte > 0x7f) return false
  }
  return true
}

/** Of letters, 0x20 is the difference between capital and small; what else it makes equal stands in no name. */
function isSpelledAs(bytes: Uint8Array, start: number, length: number, text: string): boolean {
  if (length !== text.length) return false
  for (let offset = 0; offset < length; offset++) {
    if (((bytes[start + offset] ?? 0) | 0x20) !== (text.charCodeAt(offset) | 0x20)) return false
  }
  return true
}

function look(watch: NameWatch, bytes: Buffer, start: number, end: number): void {
  const length = end - start
  const names = watch.names.byLength[length]
  if (names !== undefined) for (const name of names) if (isSpelledAs(bytes, start, length, name)) watch.seen = true
  if (length < watch.names.shortestHidden) return
  for (let index = start; index < end; index++) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the bytes do, and runs for every byte
    const byte = bytes[index]!
    if (byte === backslash || (byte > 0x7f && foldsToAscii(bytes, index))) watch.seen = true
  }
}

/** After a backslash: a quote, another, a slash, and `b`, `f`, `n`, `r`, `t`. */
const escapeLetters = new Set([quote, backslash, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

/** A native search costs as much as this many bytes in a loop, and most strings are shorter. */
const nearBytes = 32
const farBytes = 4096

function skipString(bytes: Buffer, at: number, end: number, strict: boolean): number {
  return strict ? readString(bytes, at, end) : passString(bytes, at, end)
}

function readString(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end) {
    // biome-ignore lint/style/noNonNullAssertion: the loop ends before the bytes do, and runs for every byte
    const byte = bytes[index]!
    if (byte === quote) return index + 1
    if (byte < 0x20) return ~index
    const size = byte === backslash ? escapeSize(bytes, index) : 1
    if (size === 0) return ~index
    index += size
  }
  return ~end
}

/** Of the escape at `at`; 0 when it is none. */
function escapeSize(bytes: Buffer, at: number): number {
  const kind = bytes[at + 1] ?? 0
  if (kind !== 0x75) return escapeLetters.has(kind) ? 2 : 0
  for (let index = at + 2; index < at + 6; index++) if (!isHexDigit(bytes[index] ?? 0)) return 0
  return 6
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

/** To the byte after the closing quote, whatever lies within; `~end` where there is none. `at` is the byte after the opening quote. */
export function passString(bytes: Buffer, at: number, end: number): number {
  let index = at
  for (let span = nearBytes; ; ) {
    const near = Math.min(index + span, end)
    for (; index < near; index++) {
      const byte = bytes[index]
      if (byte === quote) return index + 1
      if (byte === backslash) index++
    }
    if (index >= end) return ~end
    const found = bytes.indexOf(quote, index)
    if (found === -1 || found >= end) return ~end
    if (!isEscaped(bytes, found, index)) return found + 1
    // Where many quotes are escaped, the search would find each of them.
    span = found - index < 4 * nearBytes ? Math.min(2 * span, farBytes) : nearBytes
    index = found + 1
  }
}

/** `from` must not itself be an escaped byte. */
function isEscaped(bytes: Buffer, at: number, from: number): boolean {
  let index = at
  while (index > from && bytes[index - 1] === backslash) index--
  return ((at - index) & 1) === 1
}

const literals = new Map([
  [0x74, Buffer.from('true')],
  [0x66, Buffer.from('false')],
  [0x6e, Buffer.from('null')],
])

function skipScalar(bytes: Buffer, at: number, end: number): number {
  const first = bytes[at] ?? 0
  const literal = first < 0x40 ? undefined : literals.get(first)
  if (literal === undefined) return skipNumber(bytes, at, end)
  for (let offset = 0; offset < literal.length; offset++) {
    if (at + offset >= end || bytes[at + offset] !== literal[offset]) return ~(at + offset)
  }
  return at + literal.length
}

function skipNumber(bytes: Buffer, at: number, end: number): number {
  let index = bytes[at] === 0x2d ? at + 1 : at
  const whole = bytes[index] === 0x30 ? index + 1 : skipDigits(bytes, index, end)
  if (whole === index || index >= end) return ~index
  index = whole
  if (index < end && bytes[index] === 0x2e) {
    const fraction = skipDigits(bytes, index + 1, end)
    if (fraction === index + 1) return ~fraction
    index = fraction
  }
  if (index < end && (bytes[index] === 0x65 || bytes[index] === 0x45)) {
    const signed = bytes[index + 1] === 0x2b || bytes[index + 1] === 0x2d
    const first = index + (signed ? 2 : 1)
    index = skipDigits(bytes, first, end)
    if (index === first) return ~index
  }
  return index
}

function skipDigits(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end) {
    const byte = bytes[index] ?? 0
    if (byte < 0x30 || byte > 0x39) break
    index++
  }
  return index
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function skipSpace(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end && isSpace(bytes[index])) index++
  return index
}
