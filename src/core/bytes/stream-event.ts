/** One event of a streamed answer, as a framer cuts it out of the bytes. The `bytes` of all events, joined, are the input. */
export interface StreamEvent {
  /** All bytes of the event with its delimiter (SSE: the blank line; JSON array: the bracket or comma before it). */
  bytes: Buffer
  /** SSE `event:` value, '' when absent. */
  name: string
  /**
   * SSE `data:` payload (several lines joined by \n), or the array element. Empty: the event says nothing (only
   * comments, or the closing bracket). Of a `tail`: not parsed, the last bytes of the event as they came.
   */
  data: Buffer
  /**
   * `whole` but for an event that was too large to wait for (`head`, any number of `middle`, `tail`), and for what the
   * end of the input left without a delimiter (`cut`).
   */
  part: 'whole' | 'head' | 'middle' | 'tail' | 'cut'
}

/** Cuts a byte stream into events, however it was chunked. Zero-copy where a chunk holds a whole event. */
export interface StreamFramer {
  push(chunk: Buffer): StreamEvent[]
  /** Bytes held back because their event is not complete. */
  readonly pending: number
  /**
   * Hands out the held bytes of an event that has grown too large, as its `head` or `middle`; the boundary is still
   * looked for and ends a `tail`. Null when nothing is held.
   */
  release(): StreamEvent | null
  /** At the end of the input: what stands after the last delimiter, read as a `cut` event (the last `middle` of a released one); null when nothing does. */
  rest(): StreamEvent | null
}

/** How much of a released event's end is kept, so that usage written across two pieces is still found in the tail. */
const carriedBytes = 16 * 1024

export const noData: Buffer = Buffer.alloc(0)

/** Remembers that the head of an event has gone out, and what its tail must carry. */
export class ReleasedEvent {
  #name: string | null = null
  #carried: Buffer = noData

  get open(): boolean {
    return this.#name !== null
  }

  /** The next piece to hand out, `read` giving name and data of the head. */
  piece(bytes: Buffer, read: () => { name: string; data: Buffer }): StreamEvent {
    const kept = this.#carried.length === 0 ? bytes : Buffer.concat([this.#carried, bytes])
    this.#carried = Buffer.from(kept.subarray(Math.max(0, kept.length - carriedBytes)))
    if (this.#name !== null) return { bytes, name: this.#name, data: noData, part: 'middle' }
    const head = read()
    this.#name = head.name
    return { bytes, ...head, part: 'head' }
  }

  /** What the input's end left of it: its tail never came. */
  remainder(bytes: Buffer): StreamEvent {
    return { bytes, name: this.#name ?? '', data: noData, part: 'middle' }
  }

  tail(bytes: Buffer): StreamEvent {
    const event: StreamEvent = {
      bytes,
      name: this.#name ?? '',
      data: Buffer.concat([this.#carried, bytes]),
      part: 'tail',
    }
    this.#name = null
    this.#carried = noData
    return event
  }
}
