/** Keeps the last bytes of a sequence of chunks, and copies each byte at most twice, however the chunks are cut. */
export class LastBytes {
  readonly #size: number
  readonly #buffer: Buffer
  #filled = 0

  constructor(size: number) {
    this.#size = size
    this.#buffer = Buffer.allocUnsafe(2 * size)
  }

  add(chunk: Buffer): void {
    const last = chunk.subarray(-this.#size)
    if (this.#filled + last.length > this.#buffer.length) {
      const kept = this.#size - last.length
      this.#buffer.copyWithin(0, this.#filled - kept, this.#filled)
      this.#filled = kept
    }
    this.#filled += last.copy(this.#buffer, this.#filled)
  }

  bytes(): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#filled - this.#size), this.#filled)
  }
}
