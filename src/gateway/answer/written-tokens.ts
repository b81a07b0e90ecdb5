import { bytesPerToken } from '../../core/estimated-tokens.ts'
import { parseJson } from '../../core/json-value.ts'
import type { StreamEvent } from '../../core/stream-event.ts'

/** What an answer without a report of its usage has written, as far as it has come. */
export interface WrittenAnswer {
  /** With content. */
  readonly events: number
  /** At least one an event, since most providers send about one; more where their text says so. */
  readonly tokens: number
}

/** Of a stream that is not limited as it flows, each so many events behind the first two, and each that is large. */
const sampleEvery = 8
const largeBytes = 1024

/** Counts what a stream writes. `exact`: every event is read, since a budget waits for the count. */
export class WrittenTokens implements WrittenAnswer {
  readonly #every: number
  #events = 0
  /** Of the events that were read for themselves. */
  #bytes = 0
  /** The others, and those of them that stand for all. */
  readonly #rest = { events: 0, read: 0, bytes: 0 }

  constructor(exact: boolean) {
    this.#every = exact ? 1 : sampleEvery
  }

  get events(): number {
    return this.#events
  }

  get tokens(): number {
    const { events, read, bytes } = this.#rest
    const rest = read === 0 ? 0 : (bytes / read) * events
    return Math.max(this.#events, Math.ceil((this.#bytes + rest) / bytesPerToken))
  }

  add({ data }: Pick<StreamEvent, 'data'>): void {
    // The first one often only begins a text, and few large ones may have all of it.
    if (this.#events++ < 2 || data.length > largeBytes) {
      this.#bytes += textBytes(data)
      return
    }
    const rest = this.#rest
    if (rest.events++ % this.#every !== 0) return
    rest.read++
    rest.bytes += textBytes(data)
  }
}

/** Of bytes that nobody read as events, or of a whole answer. */
export function writtenBytes(bytes: number): WrittenAnswer {
  const tokens = Math.ceil(bytes / bytesPerToken)
  return { events: tokens, tokens }
}

/** What all formats call the members that a model has written. */
const written = new Set([
  ...['content', 'text', 'delta', 'refusal', 'thinking', 'reasoning', 'reasoning_content'],
  ...['arguments', 'partial_json', 'completion', 'transcript'],
])
/** The same, where it is no text: the arguments of a call. */
const writtenValues = new Set(['args', 'input'])

/** A value on the way through a document; `whole`: all of it is written, its names too. */
interface ReadValue {
  name: string
  value: unknown
  whole: boolean
}

/** Bytes of text that a model has written, in an event or a whole answer of any format; of a part of a large event all. */
export function textBytes(data: Buffer): number {
  const document = parseJson(data)
  if (document === undefined) return data.length
  let bytes = 0
  // Not by recursion: how deep it is, its sender decides.
  const left: ReadValue[] = [{ name: '', value: document, whole: false }]
  for (let place = left.pop(); place !== undefined; place = left.pop()) {
    const { name, value } = place
    if (typeof value === 'object' && value !== null) addInside(left, place, value)
    else if (place.whole || (typeof value === 'string' && written.has(name)))
      bytes += Buffer.byteLength(String(value)) + (place.whole ? name.length : 0)
  }
  return bytes
}

function addInside(left: ReadValue[], { name, whole }: ReadValue, value: object): void {
  const isWhole = whole || writtenValues.has(name)
  if (Array.isArray(value)) for (const one of value) left.push({ name, value: one, whole: isWhole })
  else for (const [key, one] of Object.entries(value)) left.push({ name: key, value: one, whole: isWhole })
}
