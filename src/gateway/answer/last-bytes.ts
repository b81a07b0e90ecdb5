/** In every format, usage is at or near the end of a whole answer. */
const size = 16 * 1024

/**
 * Keeps the last bytes of an answer that comes in chunks, and copies each byte at most twice, however the chunks are
 * cut.
 */
export class LastBytes {
  readonly #buffer = Buffer.allocUnsafe(2 * size)
  #filled = 0

  add(chunk: Buffer): void {
    const last = chunk.subarray(-size)
    if (this.#filled + last.length > this.#buffer.length) {
      const kept = size - last.length
      this.#buffer.copyWithin(0, this.#filled - kept, this.#filled)
      this.#filled = kept
    }
    this.#filled += last.copy(this.#buffer, this.#filled)
  }

  bytes(): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#filled - size), this.#filled)
  }
}
