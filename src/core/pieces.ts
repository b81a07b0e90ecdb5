/** Beyond so many pieces, smaller ones are copied together: each costs a hundred bytes by itself, also one of a single byte. */
const fewPieces = 64
const smallBytes = 4096
const blockBytes = 64 * 1024

/** Bytes that arrived in chunks, in little more memory than they are long, however they were cut. */
export class Pieces {
  size = 0
  #whole: Buffer[] = []
  #block: Buffer | null = null
  #filled = 0

  add(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.size += chunk.length
    if (chunk.length < smallBytes && this.#whole.length >= fewPieces) return this.#copy(chunk)
    this.#close()
    this.#whole.push(chunk)
  }

  /** The pieces so far, in order. */
  list(): Buffer[] {
    this.#close()
    return [...this.#whole]
  }

  join(): Buffer {
    this.#close()
    const first = this.#whole[0]
    return first !== undefined && this.#whole.length === 1 ? first : Buffer.concat(this.#whole, this.size)
  }

  /** Returns all bytes and forgets them. */
  take(): Buffer {
    const bytes = this.join()
    this.#whole = []
    this.size = 0
    return bytes
  }

  #copy(chunk: Buffer): void {
    if (this.#block !== null && this.#filled + chunk.length > blockBytes) this.#close()
    this.#block ??= Buffer.allocUnsafeSlow(blockBytes)
    this.#filled += chunk.copy(this.#block, this.#filled)
  }

  #close(): void {
    if (this.#block === null) return
    const filled = this.#block.subarray(0, this.#filled)
    this.#whole.push(this.#filled < blockBytes / 2 ? Buffer.from(filled) : filled)
    this.#block = null
    this.#filled = 0
  }
}

/** The same bytes with those from `start` to `end` replaced, wherever the cuts between pieces are. */
export function replaceSpan(pieces: readonly Buffer[], start: number, end: number, bytes: Buffer): Buffer[] {
  const result: Buffer[] = []
  let offset = 0
  for (const piece of pieces) {
    const from = Math.min(Math.max(start - offset, 0), piece.length)
    const to = Math.min(Math.max(end - offset, 0), piece.length)
    if (from > 0) result.push(piece.subarray(0, from))
    if (start >= offset && start < offset + piece.length) result.push(bytes)
    if (to < piece.length) result.push(piece.subarray(to))
    offset += piece.length
  }
  return result
}
