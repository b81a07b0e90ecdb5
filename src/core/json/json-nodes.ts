import { maximumElements, type Span } from './json-scan.ts'
import { passString } from './json-text.ts'
import { readValue } from './json-value.ts'
import { skipSpace, skipValue } from './json-walk.ts'

/** A JSON value with the place where it stands, so that it can be replaced there. Repeated members are all there. */
export type JsonNode = TextNode | ScalarNode | ArrayNode | ObjectNode

export interface TextNode extends Span {
  kind: 'text'
}
/** A number, `true`, `false` or `null`. */
export interface ScalarNode extends Span {
  kind: 'scalar'
}
export interface ArrayNode extends Span {
  kind: 'array'
  items: JsonNode[]
}
export interface ObjectNode extends Span {
  kind: 'object'
  members: NodeMember[]
}
export interface NodeMember {
  name: string
  key: TextNode
  value: JsonNode
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
/** No real document has more, and it bounds the call stack. */
const mostDepth = 500

interface Reading {
  bytes: Buffer
  left: number
}

/** The value that fills the bytes; null: they are not JSON, or contain too many values, or too deep ones. */
export function readNodes(bytes: Buffer): JsonNode | null {
  const reading = { bytes, left: maximumElements }
  const node = readNode(reading, skipSpace(bytes, 0, bytes.length), mostDepth)
  return node !== null && skipSpace(bytes, node.end, bytes.length) === bytes.length ? node : null
}

/** The text of a string; null: it cannot be read. */
export function readTextNode(bytes: Buffer, { start, end }: TextNode): string | null {
  const written = bytes.toString('utf8', start + 1, end - 1)
  if (!written.includes('\\')) return written
  const value = readValue(bytes, { start, end })
  return typeof value === 'string' ? value : null
}

/** The last member with that name: nearly every parser uses that one. */
export function memberOf(node: JsonNode | null, name: string): JsonNode | null {
  if (node?.kind !== 'object') return null
  return node.members.findLast((member) => member.name === name)?.value ?? null
}

function readNode(reading: Reading, at: number, depth: number): JsonNode | null {
  const { bytes } = reading
  if (at >= bytes.length || depth === 0 || --reading.left < 0) return null
  if (bytes[at] === openBrace) return readObject(reading, at, depth)
  if (bytes[at] === openBracket) return readArray(reading, at, depth)
  if (bytes[at] === quote) return readString(bytes, at)
  const end = skipValue(bytes, at)
  return end < 0 ? null : { kind: 'scalar', start: at, end }
}

function readString(bytes: Buffer, at: number): TextNode | null {
  const end = bytes[at] === quote ? passString(bytes, at + 1, bytes.length) : -1
  return end < 0 ? null : { kind: 'text', start: at, end }
}

function readArray(reading: Reading, start: number, depth: number): ArrayNode | null {
  const { bytes } = reading
  const items: JsonNode[] = []
  let at = skipSpace(bytes, start + 1, bytes.length)
  if (bytes[at] === closeBracket) return { kind: 'array', start, end: at + 1, items }
  for (;;) {
    const item = readNode(reading, at, depth - 1)
    if (item === null) return null
    items.push(item)
    at = skipSpace(bytes, item.end, bytes.length)
    if (bytes[at] === closeBracket) return { kind: 'array', start, end: at + 1, items }
    if (bytes[at] !== comma) return null
    at = skipSpace(bytes, at + 1, bytes.length)
  }
}

function readObject(reading: Reading, start: number, depth: number): ObjectNode | null {
  const { bytes } = reading
  const members: NodeMember[] = []
  let at = skipSpace(bytes, start + 1, bytes.length)
  if (bytes[at] === closeBrace) return { kind: 'object', start, end: at + 1, members }
  for (;;) {
    const key = readString(bytes, at)
    const name = key === null ? null : readTextNode(bytes, key)
    if (key === null || name === null) return null
    at = skipSpace(bytes, key.end, bytes.length)
    if (bytes[at] !== colon) return null
    const value = readNode(reading, skipSpace(bytes, at + 1, bytes.length), depth - 1)
    if (value === null) return null
    members.push({ name, key, value })
    at = skipSpace(bytes, value.end, bytes.length)
    if (bytes[at] === closeBrace) return { kind: 'object', start, end: at + 1, members }
    if (bytes[at] !== comma) return null
    at = skipSpace(bytes, at + 1, bytes.length)
  }
}
