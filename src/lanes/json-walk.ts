import { maximumDepth, skipSpace, skipValue } from '../core/json-scan.ts'
import { readValue } from './json-value.ts'

/** What to do with the members of an object, or with the elements of an array, which go by the array's name. */
export interface MemberVisitor {
  /** A member whose value is a string. `parent` is the name under which its object stands, '' at the top. */
  text(name: string, value: string, parent: string): void
  /** Whether to look into an object or array of this name: what a client's own tools call their fields is none of ours. */
  enter(name: string): boolean
}

const quote = 0x22
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d

/**
 * Visits every member of a JSON value in one pass, repeated ones too: parsers disagree on which of two counts, so both must
 * be looked at. The bytes have been scanned before; where they are no JSON after all, the walk ends.
 */
export function walkMembers(bytes: Buffer, visitor: MemberVisitor): void {
  walkValue(bytes, skipSpace(bytes, 0, bytes.length), '', '', visitor, 0)
}

/** The index after the value, or a negative number where there is none. */
function walkValue(
  bytes: Buffer,
  at: number,
  name: string,
  parent: string,
  visitor: MemberVisitor,
  depth: number,
): number {
  const first = bytes[at]
  if (first !== openBrace && first !== openBracket) {
    const end = skipValue(bytes, at)
    if (first === quote && end > 0) visitText(bytes, at, end, name, parent, visitor)
    return end
  }
  if (depth === maximumDepth || !visitor.enter(name)) return skipValue(bytes, at)
  return first === openBrace
    ? walkObject(bytes, at, name, visitor, depth + 1)
    : walkArray(bytes, at, name, parent, visitor, depth + 1)
}

function visitText(
  bytes: Buffer,
  start: number,
  end: number,
  name: string,
  parent: string,
  visitor: MemberVisitor,
): void {
  const value = readValue(bytes, { start, end })
  if (typeof value === 'string') visitor.text(name, value, parent)
}

function walkObject(bytes: Buffer, at: number, own: string, visitor: MemberVisitor, depth: number): number {
  let index = skipSpace(bytes, at + 1, bytes.length)
  if (bytes[index] === closeBrace) return index + 1
  for (;;) {
    const keyEnd = skipValue(bytes, index)
    if (bytes[index] !== quote || keyEnd < 0) return -1
    const name = readValue(bytes, { start: index, end: keyEnd })
    const colon = skipSpace(bytes, keyEnd, bytes.length)
    const start = skipSpace(bytes, colon + 1, bytes.length)
    const end = walkValue(bytes, start, typeof name === 'string' ? name : '', own, visitor, depth)
    if (end < 0) return end
    index = skipSpace(bytes, end, bytes.length)
    if (bytes[index] === closeBrace) return index + 1
    if (bytes[index] !== comma) return -1
    index = skipSpace(bytes, index + 1, bytes.length)
  }
}

function walkArray(
  bytes: Buffer,
  at: number,
  name: string,
  parent: string,
  visitor: MemberVisitor,
  depth: number,
): number {
  let index = skipSpace(bytes, at + 1, bytes.length)
  if (bytes[index] === closeBracket) return index + 1
  for (;;) {
    const end = walkValue(bytes, index, name, parent, visitor, depth)
    if (end < 0) return end
    index = skipSpace(bytes, end, bytes.length)
    if (bytes[index] === closeBracket) return index + 1
    if (bytes[index] !== comma) return -1
    index = skipSpace(bytes, index + 1, bytes.length)
  }
}

const zero = 0x30
const escapeStart = Buffer.from('\\u00')

/**
 * Whether an escape stands in the bytes that could hide a name: of a letter or an underscore (`\u0041` to `\u007a`). Writers
 * escape quotes, control characters and what is beyond ASCII; none escapes these.
 */
export function hidesNames(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(escapeStart); at >= 0; at = bytes.indexOf(escapeStart, at + 4)) {
    const digit = (bytes[at + 4] ?? 0) - zero
    if (digit >= 4 && digit <= 7) return true
  }
  return false
}
