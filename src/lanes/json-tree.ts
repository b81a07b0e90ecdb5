import { type Fault, fault } from '../core/errors.ts'
import { maximumElements, skipSpace } from '../core/json-scan.ts'
import { foldName } from '../core/watched-names.ts'

/**
 * A JSON value in which references to objects are searched. Unlike a parser's result it keeps every member of a
 * repeated key, since parsers disagree on which one counts. A value that is neither string, object nor array is null,
 * and a string too long to be an id or a name is `longText`.
 */
export type JsonTree = string | null | typeof longText | readonly JsonTree[] | JsonMembers

export const longText = Symbol('a text too long for an id')

export const tooManyValues: Fault = fault(
  'invalid_request',
  `The body may name objects at the provider and has more than ${maximumElements.toLocaleString('en')} values, too many to search. Send fewer at a time.`,
)

export interface TreeMember {
  /** Folded (`foldName`): a member refers to an object in any letter case. */
  name: string
  /** As written. A name makes a member harmless only in its exact spelling. */
  written: string
  value: JsonTree
}

/** An object's members in order, including repeated ones. Names are looked up folded. */
export class JsonMembers {
  readonly entries: TreeMember[] = []

  /** The strings in members of this name. */
  texts(name: string): string[] {
    return this.entries.flatMap((one) => (one.name === name && typeof one.value === 'string' ? [one.value] : []))
  }

  /** The values of the members of this name. */
  values(name: string): JsonTree[] {
    return this.entries.flatMap((one) => (one.name === name ? [one.value] : []))
  }

  /** Whether a member has exactly this spelling. */
  has(name: string): boolean {
    return this.entries.some(({ written }) => written === name)
  }
}

/**
 * More values than any real request has. Each costs a multiple of its bytes in memory and time. Reads no further than
 * necessary.
 */
export function holdsTooMuch(bytes: Buffer): boolean {
  let values = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at + 1)
      continue
    }
    if ((byte === comma || byte === openBrace || byte === openBracket) && ++values > maximumElements) return true
    at++
  }
  return false
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d

/** The longest id or name that matters, with every character written as an escape. */
const idBytes = 2048
const escapedBytes = 6 * idBytes

/**
 * Reads JSON whose grammar has been checked (`scanObject`). Iterative, so that nesting needs no call stack. Memory and
 * time are bounded: returns null for more than `maximumElements` values.
 */
export function readTree(bytes: Buffer): { root: JsonTree } | null {
  const root: JsonTree[] = []
  let values = 0
  const open: (JsonTree[] | JsonMembers)[] = [root]
  let key: string | null = null
  let at = 0
  const add = (value: JsonTree) => {
    values++
    const parent = open.at(-1) ?? root
    if (parent instanceof JsonMembers) parent.entries.push({ name: foldName(key ?? ''), written: key ?? '', value })
    else parent.push(value)
  }
  while (at < bytes.length) {
    if (values > maximumElements) return null
    const byte = bytes[at]
    if (byte === quote) {
      const end = endOfString(bytes, at + 1)
      const next = skipSpace(bytes, end, bytes.length)
      const isKey = bytes[next] === colon
      const text = readText(bytes, at, end)
      if (isKey) key = typeof text === 'string' ? text : null
      else add(text)
      at = isKey ? next + 1 : end
      continue
    }
    if (byte === openBrace || byte === openBracket) {
      const value = byte === openBrace ? new JsonMembers() : []
      add(value)
      open.push(value)
    } else if (byte === closeBrace || byte === closeBracket) {
      open.pop()
    } else if (isScalar(byte) && !isScalar(bytes[at - 1])) add(null)
    at++
  }
  return { root: root[0] ?? null }
}

/** Part of a number, `true`, `false` or `null`. */
function isScalar(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    byte > 0x2a &&
    byte < 0x7b &&
    byte !== 0x2c &&
    byte !== colon &&
    byte !== openBracket &&
    byte !== closeBracket
  )
}

/** A native search costs as much as a loop over this many bytes, and most strings are shorter. */
const nearBytes = 32

/** The position after the closing quote; `at` is the one after the opening quote. */
function endOfString(bytes: Buffer, at: number): number {
  const near = Math.min(at + nearBytes, bytes.length)
  for (let index = at; index < near; index++) {
    const byte = bytes[index]
    if (byte === quote) return index + 1
    if (byte === backslash) index++
  }
  for (let from = at; ; ) {
    const end = bytes.indexOf(quote, from)
    if (end === -1) return bytes.length
    let slashes = end
    while (slashes > at && bytes[slashes - 1] === backslash) slashes--
    if ((end - slashes) % 2 === 0) return end + 1
    from = end + 1
  }
}

/**
 * Names and ids that matter are ASCII, so one byte is one character. An invalid escape is read as a lenient parser
 * would read it.
 */
function readText(bytes: Buffer, start: number, end: number): string | typeof longText {
  if (end - start > escapedBytes) return longText
  const text = bytes.toString('latin1', start + 1, end - 1)
  if (!text.includes('\\')) return text.length > idBytes ? longText : text
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as string
  } catch {
    return text.replaceAll(/\\(.)/g, '$1')
  }
}

/** Callbacks for the members of an object, and for the elements of an array, which go by the array's name. */
export interface MemberVisitor {
  /**
   * A member whose value is a string. `parent` is the name of the object that contains it, '' at the top. Both are
   * folded (`foldName`).
   */
  text(name: string, value: string, parent: string): void
  /** A member whose value is a string too long to be an id. */
  long?(name: string, parent: string): void
  /**
   * Whether to visit an object or array of this name, as written: the fields of a client's own tools do not refer to
   * objects.
   */
  enter(name: string): boolean
}

/**
 * Visits every member of a JSON value whose grammar has been checked, including repeated ones; none when there are too
 * many.
 */
export function walkMembers(bytes: Buffer, visitor: MemberVisitor): Fault | null {
  const tree = readTree(bytes)
  if (tree === null) return tooManyValues
  const waiting: [value: JsonTree, name: string, parent: string, written: string][] = [[tree.root, '', '', '']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, name, parent, written] = next
    if (typeof value === 'string') visitor.text(name, value, parent)
    else if (typeof value === 'symbol') visitor.long?.(name, parent)
    else if (value === null || !visitor.enter(written)) continue
    else if (value instanceof JsonMembers)
      for (const member of value.entries) waiting.push([member.value, member.name, name, member.written])
    else for (const element of value) waiting.push([element, name, parent, written])
  }
  return null
}
