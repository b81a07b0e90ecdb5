import { Pieces } from './pieces.ts'
import { noData, ReleasedEvent, type StreamEvent, type StreamFramer } from './stream-event.ts'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a
const space = 0x20
const newline = Buffer.from('\n')
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Splits server-sent events (WHATWG HTML, 9.2) at their blank lines: \n, \r\n and \r ends in any mix, chunks cut
 * anywhere. A block of only comments, and a blank line too many, are events without data.
 */
export class SseFramer implements StreamFramer {
  readonly #held = new Pieces()
  readonly #released = new ReleasedEvent()
  /** Start and end of each finished line, counted from the event's first byte. */
  #lines: number[] = []
  #lineStart = 0
  /** Of the chunk before this one. */
  #lastByte = 0
  /** The event is complete but for the \n that the blank line's \r announces. */
  #awaitsLineFeed = false
  /** Lines have ended in \r\n so far, so a \r that ends a chunk is half a line end: waiting for the rest delays nothing. */
  #usesPairs = false
  #first = true

  get pending(): number {
    return this.#held.size
  }

  push(chunk: Buffer): StreamEvent[] {
    const events: StreamEvent[] = []
    let start = 0
    if (this.#awaitsLineFeed && chunk.length > 0) {
      start = chunk[0] === lineFeed ? 1 : 0
      events.push(this.#close(chunk, 0, start))
    }
    for (let index = start; index < chunk.length; index++) {
      const byte = chunk[index]
      if (byte !== lineFeed && byte !== carriageReturn) continue
      const first = this.#endLine(chunk, index, this.#held.size + index - start)
      if (first === 0) continue
      const end = index === start ? this.#endBlank(chunk, first) : first
      events.push(this.#close(chunk, start, end))
      start = end
      index = end - 1
    }
    if (chunk.length > 0) this.#lastByte = chunk[chunk.length - 1] ?? 0
    this.#held.add(chunk.subarray(start))
    return events
  }

  /** `offset` counts from the event's start. Gives the index after the event when this line end completes it, else 0. */
  #endLine(chunk: Buffer, index: number, offset: number): number {
    const previous = index > 0 ? chunk[index - 1] : this.#lastByte
    if (chunk[index] === lineFeed && previous === carriageReturn) {
      // Second half of \r\n: belongs to the line that is already finished.
      this.#usesPairs = true
      this.#lineStart = offset + 1
      return 0
    }
    if (offset !== this.#lineStart) {
      this.#lines.push(this.#lineStart, offset)
      this.#lineStart = offset + 1
      return 0
    }
    if (chunk[index] === lineFeed) return index + 1
    if (index + 1 < chunk.length) return chunk[index + 1] === lineFeed ? index + 2 : index + 1
    this.#awaitsLineFeed = this.#usesPairs
    return this.#usesPairs ? 0 : index + 1
  }

  /** Blank lines too many are one event, however many. A \r at the end that may be half a line end is left for what comes. */
  #endBlank(chunk: Buffer, from: number): number {
    if (this.#held.size > 0) return from
    let end = from
    while (end < chunk.length && (chunk[end] === lineFeed || chunk[end] === carriageReturn)) end++
    return end > from && end === chunk.length && chunk[end - 1] === carriageReturn ? end - 1 : end
  }

  release(): StreamEvent | null {
    if (this.#held.size === 0) return null
    const inLine = this.#lineStart - this.#held.size
    const lines = [...this.#lines, Math.min(this.#lineStart, this.#held.size), this.#held.size]
    const bytes = this.#held.take()
    this.#lines = []
    this.#lineStart = inLine
    return this.#released.piece(bytes, () => this.#read(bytes, lines))
  }

  rest(): StreamEvent | null {
    if (this.#held.size === 0) return null
    const lines = [...this.#lines]
    if (this.#lineStart < this.#held.size && !this.#awaitsLineFeed) lines.push(this.#lineStart, this.#held.size)
    const bytes = this.#held.take()
    if (this.#released.open) return this.#released.remainder(bytes)
    return { bytes, ...this.#read(bytes, lines), part: 'cut' }
  }

  #close(chunk: Buffer, start: number, end: number): StreamEvent {
    this.#held.add(chunk.subarray(start, end))
    const bytes = this.#held.take()
    const lines = this.#lines
    this.#lines = []
    this.#lineStart = 0
    this.#awaitsLineFeed = false
    if (this.#released.open) return this.#released.tail(bytes)
    return { bytes, ...this.#read(bytes, lines), part: 'whole' }
  }

  #read(bytes: Buffer, lines: readonly number[]): { name: string; data: Buffer } {
    const hasMark = this.#first && bytes.subarray(0, 3).equals(byteOrderMark)
    this.#first = false
    let name = ''
    const data: Buffer[] = []
    for (let line = 0; line < lines.length; line += 2) {
      const start = (lines[line] ?? 0) + (line === 0 && hasMark ? 3 : 0)
      const end = lines[line + 1] ?? 0
      if (isField(bytes, start, end, 'data')) {
        if (data.length > 0) data.push(newline)
        data.push(fieldValue(bytes, start + 4, end))
      } else if (isField(bytes, start, end, 'event')) {
        name = fieldValue(bytes, start + 5, end).toString('utf8')
      }
    }
    // One line, as nearly always, is a part of the bytes; several are joined once, however many there are.
    return { name, data: data.length > 1 ? Buffer.concat(data) : (data[0] ?? noData) }
  }
}

function isField(bytes: Buffer, start: number, end: number, field: string): boolean {
  const after = start + field.length
  if (after > end || (after < end && bytes[after] !== colon)) return false
  for (let index = 0; index < field.length; index++) {
    if (bytes[start + index] !== field.charCodeAt(index)) return false
  }
  return true
}

/** `at` is the colon, or the end of a line without one. */
function fieldValue(bytes: Buffer, at: number, end: number): Buffer {
  const start = at + 1 < end && bytes[at + 1] === space ? at + 2 : at + 1
  return bytes.subarray(Math.min(start, end), end)
}

/**
 * Where byte `offset` of an event's data stands in the event's bytes. The data of one line is part of the bytes;
 * of several lines it is a copy, and each line's own prefix must be counted.
 */
export function locateInEvent(event: StreamEvent, offset: number): number {
  // Small buffers share one pool: the same memory block alone does not make the data a part of the bytes.
  const shift = event.data.byteOffset - event.bytes.byteOffset
  const within = shift >= 0 && shift + event.data.length <= event.bytes.length
  const isPart = within && event.data.buffer === event.bytes.buffer
  if (isPart) return shift + offset
  let left = offset
  for (const line of dataLines(event.bytes)) {
    if (left <= line.end - line.start) return line.start + left
    left -= line.end - line.start + 1
  }
  return event.bytes.length
}

/** The event's bytes with other data in the place of its own. */
export function replaceData(event: StreamEvent, data: Buffer): Buffer {
  const start = locateInEvent(event, 0)
  const end = start + event.data.length
  if (event.bytes.subarray(start, end).equals(event.data))
    return Buffer.concat([event.bytes.subarray(0, start), data, event.bytes.subarray(end)])
  const name = event.name === '' ? '' : `event: ${event.name}\n`
  return Buffer.from(`${name}data: ${data.toString().replaceAll('\n', '\ndata: ')}\n\n`)
}

function* dataLines(bytes: Buffer): Generator<{ start: number; end: number }> {
  let start = 0
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] !== lineFeed && bytes[index] !== carriageReturn) continue
    const value = isField(bytes, start, index, 'data') ? fieldValue(bytes, start + 4, index) : null
    if (value !== null) yield { start: index - value.length, end: index }
    start = index + 1
  }
}
