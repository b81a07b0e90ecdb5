import { ownReasoningPrefix, sealedPrefix } from '../secrets/sealed-mark.ts'
import { mayHideName, type NameWatch, WatchedNames } from '../watched-names.ts'
import { never, passString, paused, pausedAt } from './json-text.ts'
import { type KnownSpans, knownSpans, longBytes, slicedBytes } from './known-spans.ts'
import { decodeName, letterBytes, letters, mostLetters, wasAscii } from './member-name.ts'

/**
 * Skips values of JSON in its bytes, without parsing or copying. The grammar is checked strictly (RFC 8259) but for the inside of
 * strings, where escapes and control characters are skipped unread unless a scan is strict. Positions that mean "wrong here" are
 * returned as `~offset`, a negative number.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Of one body, at whatever depth: so many no request means, and each costs time that its bytes do not show. */
export const maximumValues = 3_000_000
/** A longer one counts as too many values: no pause is made within it. */
const longestKey = 4 * 1024 * 1024
/** Deeper nesting is refused: no real body has it, and it bounds the stack below. */
export const maximumDepth = 10_000

/** Where a scan of a value stands. */
export interface ValueWalk {
  index: number
  depth: number
  inObject: boolean
  /** Where the text begins that was left half-way; -1: none was. */
  text: number
  containers: Uint8Array
}

/** A scan that others have their turn between the slices of. */
export interface SlicedWalk extends ValueWalk {
  readonly spans: KnownSpans
  valuesLeft: number
}

/** One stack for all scans that are done in one go: they are synchronous and never re-entered. */
const shared = startWalk()
/** What the scan under way writes down what it finds into; null: nowhere. */
let recording: KnownSpans | null = null
/** How many more values the scan under way may pass; below zero it was stopped for having too many. */
let valuesLeft = 0
/** Whether the scan under way has passed a text that may be a sealed value, or reasoning that nobody has signed. */
let passedSealed = false

export function startWalk(): ValueWalk {
  return { index: 0, depth: 0, inObject: false, text: -1, containers: new Uint8Array(maximumDepth) }
}

/** With more than this before the end, a value may be large. */
const largeBytes = 16 * 1024

/** Call it before the first `skipNext` of a scan: so many values it may pass. */
export function countValues(): void {
  valuesLeft = maximumValues
  passedSealed = false
}

/** Whether `skipNext` has passed such a text. */
export function sawSealed(): boolean {
  return passedSealed
}

/** Why `skipNext` stopped. */
export function hadTooManyValues(): boolean {
  return valuesLeft < 0
}

/** The index after the value that starts at `at`, or `~offset` of what is wrong, too many values too. */
export function skipValue(bytes: Buffer, at: number): number {
  countValues()
  return skipNext(bytes, at, bytes.length, null, false)
}

/** As `skipValue`, for one of several values of a scan. */
export function skipNext(bytes: Buffer, at: number, end: number, watch: NameWatch | null, strict: boolean): number {
  if (end - at > largeBytes && bytes.length >= slicedBytes) {
    const known = recallEnd(bytes, at, end)
    if (known !== undefined) return known
  }
  shared.index = at
  shared.depth = 0
  shared.inObject = false
  return walk(bytes, shared, end, watch, strict && end - at <= largeBytes, never)
}

/** As the scan of the whole document found it; undefined: it must be scanned again. */
function recallEnd(bytes: Buffer, at: number, end: number): number | undefined {
  const known = knownSpans(bytes)
  const found = known?.endOf(at)
  if (known === undefined || found === undefined) return undefined
  if (found < 0 && known.tooMany) valuesLeft = -1
  return found > end || ~found > end ? ~end : found
}

/** Goes on with the scan of a whole document up to about `pauseAt`, and writes down what it finds; true: that was all. */
export function walkOn(bytes: Buffer, from: SlicedWalk, pauseAt: number): boolean {
  valuesLeft = from.valuesLeft
  passedSealed = false
  recording = from.spans
  const end = walk(bytes, from, bytes.length, null, false, pauseAt)
  recording = null
  from.valuesLeft = valuesLeft
  if (passedSealed) from.spans.sealed = true
  if (end < 0 && end !== paused) from.spans.fail(~end, valuesLeft < 0)
  return end !== paused
}

/** Iterative: nesting costs no call stack. */
function walk(
  bytes: Buffer,
  from: ValueWalk,
  end: number,
  watch: NameWatch | null,
  isStrict: boolean,
  pauseAt: number,
): number {
  const { containers } = from
  const spans = recording
  let { index, depth, inObject, text } = from
  for (;;) {
    if (text < 0) {
      index = skipSpace(bytes, index, end)
      if (index >= end) return ~end
      if (index >= pauseAt) {
        Object.assign(from, { index, depth, inObject, text })
        return paused
      }
      if (--valuesLeft < 0) return ~index
    }
    const start = text < 0 ? index : text
    const byte = bytes[start]
    let isOpen = false
    if (byte === openBrace || byte === openBracket) {
      if (depth === maximumDepth) return ~index
      containers[depth++] = byte
      inObject = byte === openBrace
      if (spans !== null) spans.open(start)
      index = skipSpace(bytes, index + 1, end)
      isOpen = index < end && bytes[index] !== (inObject ? closeBrace : closeBracket)
    } else {
      const at = text < 0 ? index + 1 : index
      if (byte === quote && mayBeReplayed(bytes, at)) passedSealed = true
      index = byte === quote ? skipString(bytes, at, end, isStrict, pauseAt) : skipScalar(bytes, index, end)
      if (index === paused) Object.assign(from, { index: pausedAt(), depth, inObject, text: start })
      if (index < 0) return index
      text = -1
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

/**
 * Whether the text behind the quotation mark begins as what this gateway has sealed, or as that in base64 (Gemini's signatures), or is
 * where it has given out reasoning that nobody signed.
 */
function mayBeReplayed(bytes: Buffer, at: number): boolean {
  const first = bytes[at]
  if (first === 0x73) return hasText(bytes, at, sealedPrefix)
  if (first === 0x63) return hasText(bytes, at, 'c3Ax')
  if (first === 0x72) return hasText(bytes, at, ownReasoningPrefix)
  return first === quote && (hasText(bytes, at - 13, '"signature":"') || hasText(bytes, at - 14, '"signature": "'))
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
  const limit = Math.min(end, at + longestKey)
  const keyEnd = skipString(bytes, at + 1, limit, strict)
  if (keyEnd === ~limit && limit < end) valuesLeft = -1
  if (keyEnd < 0) return keyEnd
  if (watch !== null && !watch.seen) watchName(watch, bytes, at + 1, keyEnd - 1)
  if (spans !== null) noteKey(spans, bytes, at + 1, keyEnd - 1)
  const index = skipSpace(bytes, keyEnd, end)
  return index < end && bytes[index] === colon ? index + 1 : ~index
}

/** Notes whether a name that is watched for, or may be one, has come by. */
export function watchName(watch: NameWatch, bytes: Buffer, start: number, end: number): void {
  const length = end - start
  const names = watch.names.byLength[length]
  if (names !== undefined) for (const name of names) if (isSpelledAs(bytes, start, length, name)) watch.seen = true
  if (length >= watch.names.shortestHidden && mayHideName(bytes, start, end)) watch.seen = true
}

/** The same for all names that anybody watches for. */
function noteKey(spans: KnownSpans, bytes: Buffer, start: number, end: number): void {
  const length = end - start
  const all = WatchedNames.union()
  for (const name of all.byLength[length] ?? []) if (isSpelledAs(bytes, start, length, name)) spans.named(name)
  const isLonger = length > spans.longestHidden && length >= all.shortestHidden
  if (isLonger && mayHideName(bytes, start, end)) spans.longestHidden = length
}

/** Of letters, and of nothing else, 0x20 is the difference between capital and small. */
function isSpelledAs(bytes: Uint8Array, start: number, length: number, text: string): boolean {
  if (length !== text.length) return false
  for (let offset = 0; offset < length; offset++) {
    const byte = bytes[start + offset] ?? 0
    const code = text.charCodeAt(offset)
    if (byte === code) continue
    const small = byte | 0x20
    if (small !== (code | 0x20) || small < 0x61 || small > 0x7a) return false
  }
  return true
}

/** Whether a key is written in ASCII and without escapes. */
export function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0
    if (byte === backslash || byte > 0x7f) return false
  }
  return true
}

type WantedName = string | { odd: string } | null

/**
 * The wanted name that a key is, in whatever spelling: escapes, other letters, characters beyond ASCII that fold to its letters. A key is
 * decoded only as far as it can still be a wanted name. `odd`: some parsers take the key for that name, and others do not.
 */
export function wantedName(bytes: Buffer, start: number, end: number, wanted: readonly string[]): WantedName {
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
  for (const name of wanted) if (isSpelledAs(bytes, start, length, name)) return { odd: name }
  return null
}

/** Whether the text stands at `start`, which is ASCII. */
function hasText(bytes: Uint8Array, start: number, text: string): boolean {
  for (let offset = 0; offset < text.length; offset++) {
    if (bytes[start + offset] !== text.charCodeAt(offset)) return false
  }
  return true
}

export function skipString(bytes: Buffer, at: number, end: number, strict: boolean, pauseAt = never): number {
  return strict ? readString(bytes, at, end) : passString(bytes, at, end, pauseAt)
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

export function skipSpace(bytes: Buffer, at: number, end: number): number {
  if (at < end && (bytes[at] ?? 0) > 0x20) return at
  return passSpace(bytes, at, end)
}

function passSpace(bytes: Buffer, at: number, end: number): number {
  let index = at
  while (index < end && isSpace(bytes[index])) {
    index++
    if (index - at === longBytes) return skipLongSpace(bytes, at, index, end)
  }
  return index
}

function skipLongSpace(bytes: Buffer, at: number, from: number, end: number): number {
  const known = (recording ?? knownSpans(bytes))?.spaceEnd(at)
  if (known !== undefined) return Math.min(known, end)
  let index = from
  while (index < end && isSpace(bytes[index])) index++
  return index
}

/** After a backslash: a quote, another, a slash, and `b`, `f`, `n`, `r`, `t`. */
const escapeLetters = new Set([quote, backslash, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74])

/** As `passString`, and looks at every escape and control character: `~offset` of one that is wrong. */
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

const literals = new Map(['true', 'false', 'null'].map((text) => [text.charCodeAt(0), Buffer.from(text)]))

/** The index after a number, `true`, `false` or `null`, or `~offset` of what is wrong. */
function skipScalar(bytes: Buffer, at: number, end: number): number {
  const first = bytes[at] ?? 0
  const literal = first < 0x40 ? undefined : literals.get(first)
  if (literal === undefined) return skipNumber(bytes, at, end)
  for (let offset = 0; offset < literal.length; offset++) {
    if (at + offset >= end || bytes[at + offset] !== literal[offset]) return ~(at + offset)
  }
  return at + literal.length
}

/** Longer numbers nobody writes; each scan would look at every digit. */
const longestNumber = 4096

function skipNumber(bytes: Buffer, at: number, limit: number): number {
  const end = Math.min(limit, at + longestNumber)
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
