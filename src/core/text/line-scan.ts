import { Pieces } from '../bytes/pieces.ts'

const lineFeed = 0x0a

/**
 * Finds the lines of bytes that arrive in chunks, however they are cut. Holds one line at most, and of that no more than
 * `limit` bytes: a longer one is skipped and counted.
 */
export class LineScanner {
  /** Lines that were too long. */
  skipped = 0
  readonly #limit: number
  readonly #line: (bytes: Buffer) => void
  #held = new Pieces()
  #skipping = false

  /** `line` is given each without its line feed; the bytes are good for the length of the call. */
  constructor(limit: number, line: (bytes: Buffer) => void) {
    this.#limit = limit
    this.#line = line
  }

  add(chunk: Buffer): void {
    let from = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      this.#hold(chunk, from, end)
      this.#finish()
      from = end + 1
      // A search for each empty line would cost far more than its byte.
      while (chunk[from] === lineFeed) from++
    }
    this.#hold(chunk, from, chunk.length)
  }

  /** The last line may have no line feed. */
  end(): void {
    this.#finish()
  }

  /** The beginning of the unfinished line, for another scanner to continue with; empty if that line is skipped. */
  rest(): Buffer {
    return this.#held.take()
  }

  #hold(chunk: Buffer, from: number, end: number): void {
    if (this.#skipping || from === end) return
    if (this.#held.size + end - from <= this.#limit) return void this.#held.add(chunk.subarray(from, end))
    this.#skipping = true
    this.skipped++
    this.#held = new Pieces()
  }

  #finish(): void {
    if (this.#held.size > 0) this.#line(this.#held.take())
    this.#skipping = false
  }
}
