import { type Fault, fault } from '../core/errors.ts'
import { maximumElements } from '../core/json/json-scan.ts'
import { passString } from '../core/json/json-text.ts'
import { isPlain, skipSpace } from '../core/json/json-walk.ts'
import { decodeName, letterBytes, letters, mostLetters, wasAscii } from '../core/json/member-name.ts'
import { groupDigits } from '../core/units.ts'

/**
 * A JSON value in which references to objects are searched. Unlike a parser's result it keeps every member of a
 * repeated key, since parsers disagree on which one counts. A value that is neither string, object nor array is null.
 */
export type JsonValue = JsonText | null | readonly JsonValue[] | JsonMembers

export interface JsonTree {
  root: JsonValue
  texts: TextBudget
}

/** For all texts of one tree; many times those of any real body. */
const maximumTexts = 16 * 1024 * 1024

/** Bytes that may still be read. Below zero: something was not read, so the result may be incomplete. */
export interface TextBudget {
  left: number
}

export const tooManyValues: Fault = fault(
  'invalid_request',
  `The body may name objects at the provider and has more than ${groupDigits(maximumElements)} values, too many to search. Send fewer at a time.`,
)

export interface TreeMember {
  /** Folded (`foldName`): a member refers to an object in any letter case. '' if it is long or does not fold to ASCII. */
  name: string
  /** As written. A name makes a member harmless only in its exact spelling. */
  written: string
  value: JsonValue
}

/** An object's members in order, including repeated ones. Names are looked up folded. */
export class JsonMembers {
  readonly entries: TreeMember[] = []

  /** The strings in members of this name; one that is too long for an id is cut (`readId`). */
  texts(name: string): string[] {
    return this.entries.flatMap((one) =>
      one.name === name && one.value instanceof JsonText ? [one.value.readId()] : [],
    )
  }

  /** The values of the members of this name. */
  values(name: string): JsonValue[] {
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
export function holdsTooMuch(bytes: Buffer, most = maximumElements): boolean {
  let values = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at + 1)
      continue
    }
    if ((byte === comma || byte === openBrace || byte === openBracket) && ++values > most) return true
    at++
  }
  return false
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d

/** The longest id or name that matters, with every character written as an escape. */
const idBytes = 2048
const escapedBytes = 6 * idBytes

/** A string's bytes, within its quotes. Decoded only on demand, since most texts are not ids. */
export class JsonText {
  readonly #bytes: Buffer
  readonly #start: number
  readonly #end: number
  readonly #budget: TextBudget

  constructor(bytes: Buffer, start: number, end: number, budget: TextBudget) {
    this.#bytes = bytes
    this.#start = start
    this.#end = end
    this.#budget = budget
  }

  get isEmpty(): boolean {
    return this.#start === this.#end
  }

  /** With its quotes. */
  get span(): { start: number; end: number } {
    return { start: this.#start - 1, end: this.#end + 1 }
  }

  /** The text as the id of an object. A text that is too long is cut and marked, so that looking it up finds nothing. */
  readId(): string {
    return this.read() ?? `${this.#bytes.toString('latin1', this.#start, this.#start + idBytes)}…`
  }

  /** Null: too long for an id. Ids are ASCII, so one byte is one character. An invalid escape is read the way a forgiving parser would. */
  read(): string | null {
    const length = this.#end - this.#start
    if (length > escapedBytes) return null
    this.#budget.left -= length
    if (this.#budget.left < 0) return null
    const text = this.#bytes.toString('latin1', this.#start, this.#end)
    if (!text.includes('\\')) return text.length > idBytes ? null : text
    try {
      return JSON.parse(this.#bytes.toString('utf8', this.#start - 1, this.#end + 1)) as string
    } catch {
      return text.replaceAll(/\\(.)/g, '$1')
    }
  }
}

interface ReadName {
  /** Unescaped; '' if it contains characters that no name has. */
  written: string
  /** The folded name. */
  folded: string
}

const noName: ReadName = { written: '', folded: '' }

/**
 * Reads a key. It matches no name if it does not fold to ASCII letters, or is longer than any name. An invalid escape is read the way a
 * forgiving parser would.
 */
function readName(bytes: Buffer, start: number, end: number): ReadName {
  const length = end - start
  if (length > mostLetters * letterBytes) return noName
  if (isPlain(bytes, start, Math.min(end, start + mostLetters + 1))) {
    if (length > mostLetters) return noName
    const written = bytes.toString('latin1', start, end)
    return { written, folded: written.toLowerCase() }
  }
  const count = decodeName(bytes, start, end, mostLetters, true)
  if (count <= 0) return noName
  const text = letters.toString('latin1', 0, count)
  return { written: wasAscii() ? text : '', folded: text.toLowerCase() }
}

/**
 * Reads JSON whose grammar has been checked (`scanObject`). Iterative, so that nesting needs no call stack. Memory and
 * time are bounded: returns null for more than `maximumElements` values.
 */
export function readTree(bytes: Buffer): JsonTree | null {
  const root: JsonValue[] = []
  const texts = { left: maximumTexts }
  let values = 0
  const open: (JsonValue[] | JsonMembers)[] = []
  let parent: JsonValue[] | JsonMembers = root
  let key = noName
  const add = (value: JsonValue) => {
    values++
    if (parent instanceof JsonMembers) parent.entries.push({ name: key.folded, written: key.written, value })
    else parent.push(value)
  }
  for (let at = 0; at < bytes.length; ) {
    if (values > maximumElements) return null
    const byte = bytes[at]
    if (byte === quote) {
      const end = endOfString(bytes, at + 1)
      const next = skipSpace(bytes, end, bytes.length)
      if (bytes[next] === colon) {
        key = readName(bytes, at + 1, end - 1)
        at = next + 1
      } else {
        add(new JsonText(bytes, at + 1, end - 1, texts))
        at = end
      }
    } else if (byte === openBrace || byte === openBracket) {
      const value = byte === openBrace ? new JsonMembers() : []
      add(value)
      open.push(parent)
      parent = value
      at++
    } else if (byte === closeBrace || byte === closeBracket) {
      parent = open.pop() ?? root
      at++
    } else if (isScalar(byte)) {
      add(null)
      do at++
      while (isScalar(bytes[at]))
    } else at = Math.max(at + 1, skipSpace(bytes, at, bytes.length))
  }
  return { root: root[0] ?? null, texts }
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

/** The byte after the closing quote, or the end where it is missing; `at` is the one after the opening quote. */
function endOfString(bytes: Buffer, at: number): number {
  const end = passString(bytes, at, bytes.length)
  return end < 0 ? bytes.length : end
}

/** Callbacks for the members of an object. Elements of an array are visited under the array's name. */
export interface MemberVisitor {
  /**
   * A member whose value is a string. `parent` is the name of the object that contains it, '' at the top. Both are
   * folded (`foldName`).
   */
  text(name: string, text: JsonText, parent: string): void
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
  const waiting: [value: JsonValue, name: string, parent: string, written: string][] = [[tree.root, '', '', '']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, name, parent, written] = next
    if (value instanceof JsonText) visitor.text(name, value, parent)
    else if (value === null || !visitor.enter(written)) continue
    else if (value instanceof JsonMembers)
      for (const member of value.entries) waiting.push([member.value, member.name, name, member.written])
    else for (const element of value) waiting.push([element, name, parent, written])
  }
  return tree.texts.left < 0 ? tooManyValues : null
}
