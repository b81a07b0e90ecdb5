/** Beyond so many pieces, smaller ones are copied together: each costs a hundred bytes by itself, also one of a single byte. */
const fewPieces = 64
const smallBytes = 4096
const blockBytes = 64 * 1024

/** What a client sends beyond this lies apart, in blocks of this size. */
const apartBytes = 1024 * 1024

/**
 * Bytes that arrived in chunks, in little more memory than they are long, however they were cut. `apart`: they may be many, and never become
 * anything. In V8's memory for resizable buffers the operating system has them back when they are freed; what is as small as a chunk comes
 * from the C library, which keeps it between the pieces of others: 60 bodies of 18 MB that broke off left a process of 1.2 GB.
 */
export class Pieces {
  size = 0
  readonly #apart: boolean
  #whole: Buffer[] = []
  #block: Buffer | null = null
  #filled = 0

  constructor(apart = false) {
    this.#apart = apart
  }

  /** Whether the chunk was copied, so that it need not stay. */
  add(chunk: Buffer): boolean {
    if (chunk.length === 0) return false
    this.size += chunk.length
    if (this.#apart && this.size > apartBytes) this.#copyApart(chunk)
    else if (chunk.length < smallBytes && this.#whole.length >= fewPieces) this.#copy(chunk)
    else {
      this.#close()
      this.#whole.push(chunk)
      return false
    }
    return true
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

  /** Nobody reads them any more. */
  free(): void {
    for (const piece of this.list()) freeChunk(piece)
    this.#whole = []
    this.size = 0
  }

  #copyApart(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#block !== null && this.#filled === this.#block.length) this.#close()
      this.#block ??= Buffer.from(new ArrayBuffer(apartBytes, { maxByteLength: apartBytes }))
      const copied = chunk.copy(this.#block, this.#filled, at)
      this.#filled += copied
      at += copied
    }
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

/**
 * Chunks lie outside V8's heap, and stay there until it collects all of it; V8 also counts them as growth until then. Node's parser allocates
 * each for whoever reads the body.
 */
export function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && (buffer.resizable || buffer.byteLength === byteLength)) buffer.transfer(0)
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
