import { freeChunk } from '../../core/bytes/pieces.ts'
import { poison } from '../../core/fault-point.ts'
import type { BorrowedBody } from '../../providers/contract.ts'

/** Size of one piece. The operating system provides only the part of it that a body has used. */
const pieceBytes = 8 * 1024 * 1024
/** For smaller bodies, memory of their own is cheaper than a lease. */
export const smallestBody = 128 * 1024
/** At most this many pieces are leased at once; further bodies take memory of their own. Unused pieces are kept for `keptMs`. */
const mostPieces = 8
const keptMs = 5_000

/**
 * Memory that large bodies use one after the other: allocating a megabyte and letting V8 collect it costs more than everything else that is
 * done with a body. A piece is reused only when nobody can read it any more; otherwise it is left to the garbage collector.
 * docs/decisions/0043.
 */
export class BodyMemory {
  readonly #free: Buffer[] = []
  #out = 0
  #timer: NodeJS.Timeout | null = null

  /** Memory for a body of that many bytes; null: the body must allocate its own. */
  lease(bytes: number): BodyLease | null {
    if (bytes < smallestBody || bytes > pieceBytes || this.#out === mostPieces) return null
    const piece = this.#free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes)
    this.#out++
    return new BodyLease(piece, this)
  }

  /** Takes a piece back; null: somebody may still read it, so it is left to the garbage collector. */
  release(piece: Buffer | null): void {
    this.#out--
    if (poison !== null) piece?.fill(poison)
    if (piece === null || this.#free.length === mostPieces) return
    this.#free.push(piece)
    this.#timer ??= setTimeout(() => this.#forget(), keptMs).unref()
  }

  #forget(): void {
    this.#timer = null
    for (const piece of this.#free.splice(0)) freeChunk(piece)
  }
}

/** One body's piece of memory and its readers. It is reused only if nothing reads it any more when the request ends. */
export class BodyLease implements BorrowedBody {
  readonly #memory: BodyMemory
  readonly #piece: Buffer
  size = 0
  #readers = 0
  #ended = false

  constructor(piece: Buffer, memory: BodyMemory) {
    this.#piece = piece
    this.#memory = memory
  }

  /** Never more bytes than were leased: Node's parser stops at the announced length. */
  add(chunk: Buffer): true {
    this.size += chunk.copy(this.#piece, this.size)
    return true
  }

  addText(text: string): void {
    this.size += this.#piece.write(text, this.size)
  }

  /** `copyTo` returns the index after the last byte that it wrote. */
  addWritten(written: { copyTo(target: Buffer, start: number): number }): void {
    this.size = written.copyTo(this.#piece, this.size)
  }

  join(): Buffer {
    return this.#piece.subarray(0, this.size)
  }

  holds(body: Buffer): boolean {
    return body.buffer === this.#piece.buffer
  }

  borrow(): () => void {
    let reads = true
    this.#readers++
    return () => {
      if (reads) this.#readers--
      reads = false
    }
  }

  /** The request has ended, and no more attempts will begin. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#memory.release(this.#readers === 0 ? this.#piece : null)
  }
}
