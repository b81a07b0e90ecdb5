import type { StreamEvent, StreamFramer } from '../../core/bytes/stream-event.ts'
import type { Detection } from './detector.ts'

export type Find = (text: string) => Detection[]

export interface Masked {
  text: string
  /** How many places were replaced. */
  places: number
}

/** Characters between two yields: a few milliseconds of work. */
const yieldEvery = 64 * 1024
/** Even the shortest piece counts as this many characters, since every detector gets it. */
const pieceCost = 64
const yieldEveryEvents = 64

/**
 * Masks JSON without parsing it: it may be cut off anywhere, and may be one document or many, in lines or events. Every byte that is not
 * masked stays. Strings are searched by their value, however they are escaped, everything else as it is written. The result is JSON of the
 * same shape. Yields now and then, so that the caller can let other work run.
 */
export function* maskJsonText(text: string, find: Find): Generator<void, Masked> {
  const masked: Masked = { text: '', places: 0 }
  let work = 0
  for (const { from, to, quoted } of cutPieces(text)) {
    const piece = text.slice(from, to)
    masked.text += quoted ? maskQuoted(piece, find, masked) : mask(piece, find, masked)
    work += to - from + pieceCost
    if (work < yieldEvery) continue
    work = 0
    yield
  }
  return masked
}

/** Text that is not JSON, as it is written. */
export function maskPlainText(text: string, find: Find): Masked {
  const masked: Masked = { text: '', places: 0 }
  masked.text = mask(text, find, masked)
  return masked
}

function mask(text: string, find: Find, masked: Masked): string {
  const detections = find(text)
  masked.places += detections.length
  return detections.length === 0 ? text : maskDetections(text, detections)
}

/** Replaces the detections by their notes. They are in order and do not overlap. */
function maskDetections(text: string, detections: readonly Detection[]): string {
  let masked = ''
  let from = 0
  for (const { start, end, note } of detections) {
    masked += `${text.slice(from, start)}[${note}]`
    from = end
  }
  return masked + text.slice(from)
}

function maskQuoted(text: string, find: Find, masked: Masked): string {
  if (!text.includes('\\')) return mask(text, find, masked)
  // null: not the content of a JSON string, for example because it is cut off within an escape.
  const meaning = parseJson<string>(`"${text}"`)
  if (meaning === null) return mask(text, find, masked)
  const detections = find(meaning)
  masked.places += detections.length
  return detections.length === 0 ? text : JSON.stringify(maskDetections(meaning, detections)).slice(1, -1)
}

function parseJson<Value>(text: string): Value | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Piece {
  from: number
  to: number
  /** Whether this is the content of a string, without its quotes. */
  quoted: boolean
}

const mark = /["\n]/g
const quotedMark = /["\n\\]/g

/** A JSON string ends with its line at the latest: a stray quote swaps inside and outside for one line only, and both are searched. */
function* cutPieces(text: string): Generator<Piece> {
  let from = 0
  let quoted = false
  while (from < text.length) {
    const to = pieceEnd(text, from, quoted)
    if (to > from) yield { from, to, quoted }
    quoted = text[to] === '"' ? !quoted : false
    if (to < text.length) yield { from: to, to: to + 1, quoted: false }
    from = to + 1
  }
}

function pieceEnd(text: string, from: number, quoted: boolean): number {
  const wanted = quoted ? quotedMark : mark
  for (let position = from; ; ) {
    wanted.lastIndex = position
    const found = wanted.exec(text)
    if (found === null) return text.length
    if (found[0] !== '\\') return found.index
    position = found.index + 2
  }
}

/** A text somewhere in an event, which may continue in the next one. */
interface TextLeaf {
  holder: Record<string, unknown> | unknown[]
  key: string
  event: OpenedEvent
  text: string
}

interface OpenedEvent {
  bytes: string
  data: string
  /** null: it is not JSON, or not complete. */
  value: object | null
  changed: boolean
}

/**
 * Masks what is spread over several events, a few letters in each, as models write: texts at the same place of successive events are
 * searched as one, and the note goes where the detection begins. What is complete within one event is left to `maskJsonText`. Yields now
 * and then.
 */
export function* maskAcrossEvents(text: string, framer: StreamFramer, find: Find): Generator<void, Masked> {
  const events: OpenedEvent[] = []
  const leavesByPath = new Map<string, TextLeaf[]>()
  for (const event of cutEvents(text, framer)) {
    const opened = openEvent(event)
    events.push(opened)
    if (opened.value !== null) collectLeaves(opened.value, opened, leavesByPath)
    if (events.length % yieldEveryEvents === 0) yield
  }
  let places = 0
  for (const leaves of leavesByPath.values()) {
    places += maskLeaves(leaves, find)
    yield
  }
  return { text: events.map(writeEvent).join(''), places }
}

function cutEvents(text: string, framer: StreamFramer): StreamEvent[] {
  const events = framer.push(Buffer.from(text))
  const rest = framer.rest()
  return rest === null ? events : [...events, rest]
}

function openEvent({ bytes, data }: StreamEvent): OpenedEvent {
  const text = data.toString()
  return {
    bytes: bytes.toString(),
    data: text,
    value: text.startsWith('{') ? parseJson<object>(text) : null,
    changed: false,
  }
}

function writeEvent({ bytes, data, value, changed }: OpenedEvent): string {
  return changed ? bytes.replace(data, () => JSON.stringify(value)) : bytes
}

const maxDepth = 32

/** Groups texts by the path to them, the kind of event, and the answer or block that they belong to. */
function collectLeaves(value: object, event: OpenedEvent, leavesByPath: Map<string, TextLeaf[]>): void {
  const walk = (holder: Record<string, unknown> | unknown[], place: string, depth: number): void => {
    const which = Array.isArray(holder) ? '' : indexesOf(holder)
    for (const [key, inner] of Object.entries(holder)) {
      const path = `${place}${which}/${key}`
      if (typeof inner === 'string')
        leavesByPath.getOrInsertComputed(path, () => []).push({ holder, key, event, text: inner })
      else if (isHolder(inner) && depth < maxDepth) walk(inner, path, depth + 1)
    }
  }
  const type = Reflect.get(value, 'type')
  walk(value as Record<string, unknown>, typeof type === 'string' ? type : '', 0)
}

function isHolder(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === 'object' && value !== null
}

/** `index`, `output_index`, `content_index` and the like. */
function indexesOf(holder: Record<string, unknown>): string {
  const indexes = Object.entries(holder).filter(([key, value]) => typeof value === 'number' && /index$/i.test(key))
  return indexes.map(([key, value]) => `[${key}=${value}]`).join('')
}

/** Masks the texts of successive events as one text. */
function maskLeaves(leaves: readonly TextLeaf[], find: Find): number {
  const [first] = leaves
  // An id or a model's name: repeated in every event, not continued.
  if (first === undefined || leaves.every(({ text }) => text === first.text)) return 0
  const detections = find(leaves.map(({ text }) => text).join(''))
  let from = 0
  let next = 0
  for (const leaf of leaves) {
    const to = from + leaf.text.length
    while ((detections[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next++
    maskLeaf(leaf, from, to, detections, next)
    from = to
  }
  return detections.length
}

/** Removes the part of the detections, from `next` on, that is between `from` and `to`; a note goes where its detection begins. */
function maskLeaf(leaf: TextLeaf, from: number, to: number, detections: readonly Detection[], next: number): void {
  let masked = ''
  let kept = from
  for (let place = next; ; place++) {
    const detection = detections[place]
    if (detection === undefined || detection.start >= to) break
    const { start, end, note } = detection
    masked += leaf.text.slice(kept - from, Math.max(start, from) - from)
    if (start >= from) masked += `[${note}]`
    kept = Math.min(end, to)
  }
  if (kept === from && masked === '') return
  Reflect.set(leaf.holder, leaf.key, masked + leaf.text.slice(kept - from))
  leaf.event.changed = true
}
