import type { StreamEvent, StreamFramer } from '../../core/stream-event.ts'
import type { Finding } from './detector.ts'
import type { Find, Masked } from './mask-text.ts'

/** A text somewhere in an event, which may be a part of one that goes on in the next. */
interface Leaf {
  holder: Record<string, unknown> | unknown[]
  key: string
  event: OpenedEvent
  text: string
}

interface OpenedEvent {
  bytes: string
  data: string
  /** null: it is no JSON, or not whole. */
  value: object | null
  changed: boolean
}

const restEvery = 64

/**
 * Masks what is spread over several events, a few letters each, as models write: texts at the same place of successive
 * events are looked at as one, and the note stands where the finding begins. What lies within one event is left for
 * `maskJsonText`. Rests now and then.
 */
export function* maskAcrossEvents(text: string, framer: StreamFramer, find: Find): Generator<void, Masked> {
  const events: OpenedEvent[] = []
  const slots = new Map<string, Leaf[]>()
  for (const event of cutEvents(text, framer)) {
    const opened = openEvent(event)
    events.push(opened)
    if (opened.value !== null) collectLeaves(opened.value, opened, slots)
    if (events.length % restEvery === 0) yield
  }
  let places = 0
  for (const leaves of slots.values()) {
    places += maskSlot(leaves, find)
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
  return { bytes: bytes.toString(), data: text, value: parseObject(text), changed: false }
}

function parseObject(text: string): object | null {
  if (!text.startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function writeEvent({ bytes, data, value, changed }: OpenedEvent): string {
  return changed ? bytes.replace(data, () => JSON.stringify(value)) : bytes
}

const deepest = 32

/** By place: the path to it, the kind of event, and which of several answers or blocks it belongs to. */
function collectLeaves(value: object, event: OpenedEvent, slots: Map<string, Leaf[]>): void {
  const walk = (holder: Record<string, unknown> | unknown[], place: string, depth: number): void => {
    const which = Array.isArray(holder) ? '' : indexesOf(holder)
    for (const [key, inner] of Object.entries(holder)) {
      const path = `${place}${which}/${key}`
      if (typeof inner === 'string') note(slots, path, { holder, key, event, text: inner })
      else if (isHolder(inner) && depth < deepest) walk(inner, path, depth + 1)
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

function note(slots: Map<string, Leaf[]>, place: string, leaf: Leaf): void {
  const known = slots.get(place)
  if (known === undefined) slots.set(place, [leaf])
  else known.push(leaf)
}

function maskSlot(leaves: readonly Leaf[], find: Find): number {
  const [first] = leaves
  // An id, a model's name: said anew in every event, and no text that goes on.
  if (first === undefined || leaves.every(({ text }) => text === first.text)) return 0
  const findings = find(leaves.map(({ text }) => text).join(''))
  let from = 0
  let next = 0
  for (const leaf of leaves) {
    const to = from + leaf.text.length
    while ((findings[next]?.end ?? Number.POSITIVE_INFINITY) <= from) next++
    maskLeaf(leaf, from, to, findings, next)
    from = to
  }
  return findings.length
}

/** What of the findings, from `next` on, lies between `from` and `to` goes; the note stays where it begins. */
function maskLeaf(leaf: Leaf, from: number, to: number, findings: readonly Finding[], next: number): void {
  let masked = ''
  let kept = from
  for (let place = next; place < findings.length; place++) {
    const { start, end, note: words } = findings[place]!
    if (start >= to) break
    masked += leaf.text.slice(kept - from, Math.max(start, from) - from)
    if (start >= from) masked += `[${words}]`
    kept = Math.min(end, to)
  }
  if (kept === from && masked === '') return
  Reflect.set(leaf.holder, leaf.key, masked + leaf.text.slice(kept - from))
  leaf.event.changed = true
}
