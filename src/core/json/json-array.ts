import { Pieces } from '../bytes/pieces.ts'
import { ReleasedEvent, type StreamEvent, type StreamFramer } from '../bytes/stream-event.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/**
 * Splits a streamed JSON array into its elements. Bracket, commas and white space before an element belong to its
 * bytes; what follows the last element is the rest, an event without data. A lone object instead of an array is one element.
 */
export class JsonArrayFramer implements StreamFramer {
  readonly #held = new Pieces()
  readonly #released = new ReleasedEvent()
  /** Open containers, the outer array not counted. */
  #depth = 0
  #inString = false
  #escaped = false
  /** Where the element begins, counted from the event's first byte; -1 between elements. */
  #elementStart = -1
  #finishedStart = 0
  #opened = false

  get pending(): number {
    return this.#held.size
  }

  push(chunk: Buffer): StreamEvent[] {
    const events: StreamEvent[] = []
    let start = 0
    for (let index = 0; index < chunk.length; index++) {
      if (this.#inString && !this.#escaped) {
        while (index < chunk.length && chunk[index] !== quote && chunk[index] !== backslash) index++
        if (index === chunk.length) break
      }
      const end = this.#step(chunk[index] ?? 0, this.#held.size + index - start)
      if (end === 'no') continue
      const cut = end === 'after' ? index + 1 : index
      events.push(this.#close(chunk, start, cut))
      start = cut
    }
    this.#held.add(chunk.subarray(start))
    return events
  }

  release(): StreamEvent | null {
    if (this.#held.size === 0) return null
    const from = this.#elementStart < 0 ? this.#held.size : this.#elementStart
    const bytes = this.#held.take()
    if (this.#elementStart >= 0) this.#elementStart = 0
    return this.#released.piece(bytes, () => ({ name: '', data: bytes.subarray(from) }))
  }

  rest(): StreamEvent | null {
    if (this.#held.size === 0) return null
    const from = this.#elementStart < 0 ? this.#held.size : this.#elementStart
    const bytes = this.#held.take()
    if (this.#released.open) return this.#released.remainder(bytes)
    return { bytes, name: '', data: bytes.subarray(from), part: 'cut' }
  }

  /** Moves the state over one byte; says whether an element ends before or after it. `offset` counts from the event's start. */
  #step(byte: number, offset: number): 'no' | 'before' | 'after' {
    if (this.#inString) return this.#stepInString(byte)
    if (byte === quote) {
      this.#inString = true
      this.#begin(offset)
      return 'no'
    }
    if (byte === 0x7b || byte === 0x5b) return this.#open(byte, offset)
    if (byte === 0x7d || byte === 0x5d) return this.#shut()
    if (byte === comma || byte <= 0x20)
      return this.#elementStart >= 0 && this.#depth === 0 ? this.#finish('before') : 'no'
    this.#begin(offset)
    return 'no'
  }

  #stepInString(byte: number): 'no' | 'after' {
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote) {
      this.#inString = false
      if (this.#depth === 0) return this.#finish('after')
    }
    return 'no'
  }

  #open(byte: number, offset: number): 'no' {
    const outer = !this.#opened && byte === 0x5b
    this.#opened = true
    if (outer) return 'no'
    this.#begin(offset)
    this.#depth++
    return 'no'
  }

  #shut(): 'no' | 'before' | 'after' {
    if (this.#depth > 1) {
      this.#depth--
      return 'no'
    }
    if (this.#depth === 1) {
      this.#depth = 0
      return this.#finish('after')
    }
    return this.#elementStart >= 0 ? this.#finish('before') : 'no'
  }

  #begin(offset: number): void {
    if (this.#elementStart < 0) this.#elementStart = offset
  }

  #finish<Where extends 'before' | 'after'>(where: Where): Where {
    this.#finishedStart = this.#elementStart
    this.#elementStart = -1
    return where
  }

  #close(chunk: Buffer, start: number, end: number): StreamEvent {
    this.#held.add(chunk.subarray(start, end))
    const bytes = this.#held.take()
    if (this.#released.open) return this.#released.tail(bytes)
    return { bytes, name: '', data: bytes.subarray(this.#finishedStart), part: 'whole' }
  }
}
