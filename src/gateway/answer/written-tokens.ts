import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import { parseJson } from '../../core/json/json-value.ts'

/** What an answer has written so far, for answers that do not report their usage. */
export interface WrittenAnswer {
  /** Events with content. */
  readonly events: number
  /** At least one for each event, since most providers send about one; more if the text is longer. */
  readonly tokens: number
}

/** Which events of a stream without a budget are read: the first two, then one in so many, and every large one. */
const sampleEvery = 8
const largeBytes = 1024

/** Counts what a stream writes. `exact`: every event is read, because a budget depends on the count. */
export class WrittenTokens implements WrittenAnswer {
  readonly #every: number
  #events = 0
  /** Bytes of the events that were counted one by one. */
  #bytes = 0
  /** The other events, and the sample of them that was read. */
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
    // The first event often only starts a text, and a few large ones may contain all of it.
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

/** For bytes that were not read as events, and for whole answers. */
export function writtenBytes(bytes: number): WrittenAnswer {
  const tokens = Math.ceil(bytes / bytesPerToken)
  return { events: tokens, tokens }
}

/** The members that hold text written by a model, in all formats. */
const written = new Set([
  ...['content', 'text', 'delta', 'refusal', 'thinking', 'reasoning', 'reasoning_content'],
  ...['arguments', 'partial_json', 'completion', 'transcript'],
])
/** The same for values that are not text, such as the arguments of a call. */
const writtenValues = new Set(['args', 'input'])

/** A value met while walking through a document. `whole`: the model wrote all of it, including member names. */
interface ReadValue {
  name: string
  value: unknown
  whole: boolean
}

/**
 * Bytes of text that a model has written, in an event or a whole answer of any format. All bytes count if this is only a part of an event.
 */
export function textBytes(data: Buffer): number {
  const document = parseJson(data)
  if (document === undefined) return data.length
  let bytes = 0
  // Not recursive: the sender chooses how deep it nests.
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
