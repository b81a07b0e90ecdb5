import { type Member, type Span, scanElements, scanObject } from '../core/json/json-scan.ts'
import { readValue } from '../core/json/json-value.ts'
import { applyEdits, type ByteEdit } from './patch-body.ts'

/** A list's answer as bytes: its elements, and the members around them. */
export interface ScannedList {
  /** `name`: the element's id; '' where it has none. */
  elements: readonly { name: string; span: Span }[]
  /** The array including its brackets; null: the answer has no array. */
  array: Span | null
  /** The members around the list, by name. A repeated one is listed once, as most parsers read it. */
  around: ReadonlyMap<string, Member>
}

/**
 * Splits the array `array`, whose elements have their id in `name`. A list without the array is empty, as proto JSON
 * leaves empty ones out; null: this is not a list.
 */
export function scanList(body: Buffer, array: string, name: string, around: readonly string[]): ScannedList | null {
  const scan = scanObject(body, [array, ...around])
  if (!scan.ok) return null
  const members = new Map(scan.members.map((member) => [member.name, member]))
  const list = members.get(array)
  const spans = list === undefined ? [] : scanElements(body, list)
  if (spans === null) return null
  const elements = spans.map((span) => ({ name: readName(body, span, name), span }))
  return { elements, array: list ?? null, around: members }
}

function readName(body: Buffer, element: Span, wanted: string): string {
  const scan = scanObject(body, [wanted], element)
  const member = scan.ok ? scan.members.at(-1) : undefined
  const value = member === undefined ? null : readValue(body, member)
  return typeof value === 'string' ? value : ''
}

export function readAround(body: Buffer, list: ScannedList, name: string): unknown {
  const member = list.around.get(name)
  return member === undefined ? undefined : readValue(body, member)
}

/**
 * The answer with only the elements `kept`, byte for byte, and with new values for the members of `around` that are
 * given.
 */
export function writeList(
  body: Buffer,
  list: ScannedList,
  kept: readonly number[],
  around: Readonly<Record<string, unknown>>,
): Buffer {
  const edits: ByteEdit[] = []
  const [first] = list.elements
  const last = list.elements.at(-1)
  // Including the white space, which would reveal that other projects have some.
  if (kept.length === 0 && list.array !== null) edits.push({ span: list.array, text: '[]' })
  else if (first !== undefined && last !== undefined && kept.length < list.elements.length) {
    const pieces = kept
      .flatMap((index) => list.elements[index] ?? [])
      .map(({ span }) => body.subarray(span.start, span.end))
    edits.push({ span: { start: first.span.start, end: last.span.end }, text: joined(pieces) })
  }
  for (const [name, value] of Object.entries(around)) {
    const member = list.around.get(name)
    if (member === undefined || readValue(body, member) === value) continue
    edits.push({ span: { start: member.start, end: member.end }, text: JSON.stringify(value) })
  }
  return applyEdits(body, edits)
}

/** The object with a new first member. */
export function insertMember(body: Buffer, name: string, value: unknown): Buffer {
  const scan = scanObject(body, [])
  if (!scan.ok) return body
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`
  const span = { start: scan.start + 1, end: scan.start + 1 }
  return applyEdits(body, [{ span, text: scan.empty ? member : `${member},` }])
}

const separator = Buffer.from(',')

function joined(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece])))
}
