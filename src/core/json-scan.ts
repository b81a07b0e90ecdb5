import { skipScalar } from './bytes/json-scalar.ts'
import { passString, readString } from './bytes/json-text.ts'
import { decodeName, isSpelledAs, letterBytes, letters, mostLetters, wasAscii } from './bytes/member-name.ts'
import { KnownSpans, knownSpans, longBytes, rememberSpans, slicedBytes } from './known-spans.ts'
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
  const known = knownSpans(bytes)
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

/** Where a scan of a value stands. */
interface Walk {
  index: number
  depth: number
  inObject: boolean
  containers: Uint8Array
}

/** One stack for all scans that are done in one go: they are synchronous and never re-entered. */
const shared: Walk = { index: 0, depth: 0, inObject: false, containers: new Uint8Array(maximumDepth) }
/** What the scan under way writes down what it finds into; null: nowhere. */
let recording: KnownSpans | null = null
/** The scan was left at the first value at or behind the place where it was to pause. */
const paused = Number.NEGATIVE_INFINITY
/** How many more values the scan under way may pass; below zero it was stopped for having too many. */
let valuesLeft = 0

/** With more than this before the end, a value may be large. */
const largeBytes = 16 * 1024

/** The index after the value that starts at `at`, or `~offset` of what is wrong, too many values too. */
export function skipValue(bytes: Buffer, at: number, end: number = bytes.length): number {
  valuesLeft = maximumValues
  return skipNext(bytes, at, end, null, false)
}

function skipNext(bytes: Buffer, at: number, end: number, watch: NameWatch | null, strict: boolean): number {
  if (end - at > largeBytes && bytes.length >= slicedBytes) {
    const known = recallEnd(bytes, at, end)
    if (known !== undefined) return known
  }
  shared.index = at
  shared.depth = 0
  shared.inObject = false
  return walk(bytes, shared, end, watch, strict && end - at <= largeBytes, Number.POSITIVE_INFINITY)
}

/** As the scan of the whole document found it; undefined: it must be scanned again. */
function recallEnd(bytes: Buffer, at: number, end: number): number | undefined {
  const known = knownSpans(bytes)
  const found = known?.endOf(at)
  if (known === undefined || found === undefined) return undefined
  if (found < 0 && known.tooMany) valuesLeft = -1
  return found > end || ~found > end ? ~end : found
}

/**
 * A scan of a large document that goes on where it was left, so that others have their turn in between. What it finds is remembered
 * for the scans that follow, of all of it or of parts.
 */
export class SlicedScan {
  readonly #bytes: Buffer
  readonly #spans = new KnownSpans()
  readonly #walk: Walk = { index: 0, depth: 0, inObject: false, containers: new Uint8Array(maximumDepth) }
  /** The document itself is no value in an object. */
  #valuesLeft = maximumValues + 1

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Scans about so many bytes more; true: that was all. */
  advance(most: number): boolean {
    valuesLeft = this.#valuesLeft
    recording = this.#spans
    const end = walk(this.#bytes, this.#walk, this.#bytes.length, null, false, this.#walk.index + most)
    recording = null
    this.#valuesLeft = valuesLeft
    if (end === paused) return false
    if (end < 0) this.#spans.fail(~end, valuesLeft < 0)
    rememberSpans(this.#bytes, this.#spans)
    return true
  }
}

/** Iterative: nesting costs no call stack. */
function walk(
  bytes: Buffer,
  from: Walk,
  end: number,
  watch: NameWatch | null,
  isStrict: boolean,
  pauseAt: number,
): number {
  const { containers } = from
  const spans = recording
  let { index, depth, inObject } = from
  for (;;) {
    index = skipSpace(bytes, index, end)
    if (index >= end) return ~end
    if (index >= pauseAt) {
      from.index = index
      from.depth = depth
      from.inObject = inObject
      return paused
    }
    if (--valuesLeft < 0) return ~index
    const start = index
    const byte = bytes[index]
    let isOpen = false
    if (byte === openBrace || byte === openBracket) {
      if (depth === maximumDepth) return ~index
      containers[depth++] = byte
      inObject = byte === openBrace
      if (spans !== null) spans.open(start)
      index = skipSpace(bytes, index + 1, end)
      isOpen = index < end && bytes[index] !== (inObject ? closeBrace : closeBracket)
    } else {
      index = byte === quote ? skipString(bytes, index + 1, end, isStrict) : skipScalar(bytes, index, end)
      if (index < 0) return index
      if (spans !== null) spans.passed(start, index)
    }
    while (!isOpen) {
      if (depth === 0) return index
      index = skipSpace(bytes, index, end)
      if (index >= end) return ~end
      const next = bytes[index]
      if (next !== comma && next !== (inObject ? closeBrace : closeBracket)) return ~index
      index++
      if (next === comma) break
      if (spans !== null) spans.close(index)
      depth--
      inObject = depth > 0 && containers[depth - 1] === openBrace
    }
    if (!inObject) continue
    index = skipKey(bytes, skipSpace(bytes, index, end), end, watch, spans, isStrict)
    if (index < 0) return index
  }
}

/** With the colon behind it. */
function skipKey(
  bytes: Buffer,
  at: number,
  end: number,
  watch: NameWatch | null,
  spans: KnownSpans | null,
  strict: boolean,
): number {
  if (at >= end || bytes[at] !== quote) return ~at
  const keyEnd = skipString(bytes, at + 1, end, strict)
  if (keyEnd < 0) return keyEnd
  if (watch !== null && !watch.seen) look(watch, bytes, at + 1, keyEnd - 1)
  if (spans !== null) spans.key(bytes, at + 1, keyEnd - 1)
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

function skipString(bytes: Buffer, at: number, end: number, strict: boolean): number {
  return strict ? readString(bytes, at, end) : passString(bytes, at, end)
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function skipSpace(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end && isSpace(bytes[index])) {
    index++
    if (index - at === longBytes) return skipLongSpace(bytes, at, index, end)
  }
  return index
}

function skipLongSpace(bytes: Buffer, at: number, from: number, end: number): number {
  const known = recording === null ? knownSpans(bytes)?.endOf(at) : undefined
  if (known !== undefined) return Math.min(known, end)
  let index = from
  while (index < end && isSpace(bytes[index])) index++
  if (recording !== null) recording.passed(at, index)
  return index
}
