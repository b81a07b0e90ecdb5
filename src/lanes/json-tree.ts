import { type Fault, fault } from '../core/errors.ts'
import { maximumElements, skipSpace } from '../core/json-scan.ts'
import { foldName } from '../core/watched-names.ts'

/**
 * What references to objects are looked for in. Unlike a parser's it keeps each member of a repeated key, since parsers disagree on which
 * one counts. What is neither string, object nor array is null, and a string too long for an id or a name is `longText`.
 */
export type JsonTree = string | null | typeof longText | readonly JsonTree[] | JsonMembers

export const longText = Symbol('a text too long for an id')

export const tooManyValues: Fault = fault(
  'invalid_request',
  `The body may name objects at the provider and holds more than ${maximumElements.toLocaleString('en')} values: too many to look through. Send fewer at a time.`,
)

export interface TreeMember {
  /** Folded (`foldName`): what refers to an object refers to it in any letters. */
  name: string
  /** For what makes a member harmless: only in these letters does it for everybody. */
  written: string
  value: JsonTree
}

/** An object's members in order, repeated ones too. Names are asked for folded. */
export class JsonMembers {
  readonly entries: TreeMember[] = []

  /** The strings that a member of this name has. */
  texts(name: string): string[] {
    return this.entries.flatMap((one) => (one.name === name && typeof one.value === 'string' ? [one.value] : []))
  }

  /** What the members of this name hold. */
  values(name: string): JsonTree[] {
    return this.entries.flatMap((one) => (one.name === name ? [one.value] : []))
  }

  /** Written so, by whatever parser it is read. */
  has(name: string): boolean {
    return this.entries.some(({ written }) => written === name)
  }
}

/** More values than anybody means: each costs memory and time that is a multiple of its bytes. Reads no further than it must, whatever the bytes are. */
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

/** Longer than any id or name that matters; and one each of whose characters is written as an escape. */
const idBytes = 2048
const escapedBytes = 6 * idBytes

/**
 * Reads JSON whose grammar has been checked (`scanObject`). Iterative: nesting costs no call stack. What it takes of memory and time is bounded:
 * null where it holds more than `maximumElements` values.
 */
export function readTree(bytes: Buffer): { root: JsonTree } | null {
  const root: JsonTree[] = []
  let values = 0
  const open: (JsonTree[] | JsonMembers)[] = [root]
  let key: string | null = null
  let at = 0
  const add = (value: JsonTree) => {
    values++
    const parent = open.at(-1)!
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

/** A native search costs as much as this many bytes in a loop, and most strings are shorter. */
const nearBytes = 32

/** The byte after the closing quote; `at` is the one after the opening quote. */
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

/** Names and ids that matter are ASCII, so that one byte is one character. An invalid escape is read the way a forgiving parser would. */
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

/** What to do with the members of an object, or with the elements of an array, which go by the array's name. */
export interface MemberVisitor {
  /** A member whose value is a string. `parent` is the name under which its object stands, '' at the top. Both are folded (`foldName`). */
  text(name: string, value: string, parent: string): void
  /** A member whose value is a text too long for any id. */
  long?(name: string, parent: string): void
  /** Whether to look into an object or array of this name, as it is written: what a client's own tools call their fields is none of ours. */
  enter(name: string): boolean
}

/** Visits every member of a JSON value whose grammar has been checked, repeated ones too; none where there are too many. */
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
