import { poison } from '../../core/fault-point.ts'
import type { BorrowedBody } from '../../providers/contract.ts'

/** Of one piece; what a body does not reach of it, the operating system never provides. */
const pieceBytes = 8 * 1024 * 1024
/** Smaller bodies cost less than keeping account of them. */
export const smallestBody = 128 * 1024
/** At most so many pieces are leased at once; a further body takes memory of its own. All are kept for later bodies, for so long. */
const mostPieces = 8
const keptMs = 5_000

/**
 * Memory that large bodies use one after the other: getting a megabyte from the operating system and having V8 collect it costs more
 * than everything else that is done with the body. A piece is used again only when it is certain that nobody can read it any more;
 * otherwise it is left to the garbage collector. docs/decisions/0043.
 */
export class BodyMemory {
  readonly #free: Buffer[] = []
  #out = 0
  #timer: NodeJS.Timeout | null = null

  /** For a body of so many bytes; null where it takes its own memory. */
  lease(bytes: number): BodyLease | null {
    if (bytes < smallestBody || bytes > pieceBytes || this.#out === mostPieces) return null
    const piece = this.#free.pop() ?? Buffer.allocUnsafeSlow(pieceBytes)
    this.#out++
    return new BodyLease(piece, this)
  }

  /** The lease has ended; null where the piece may still be read. */
  release(piece: Buffer | null): void {
    this.#out--
    if (poison !== null) piece?.fill(poison)
    if (piece === null || this.#free.length === mostPieces) return
    this.#free.push(piece)
    this.#timer ??= setTimeout(() => this.#forget(), keptMs).unref()
  }

  #forget(): void {
    this.#timer = null
    this.#free.length = 0
  }
}

/** The piece of one body, and who reads it. It is used again only if nobody reads it when its request ends. */
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

  /** No more than was asked for: Node's parser reads on only as far as the body was announced. */
  add(chunk: Buffer): void {
    this.size += chunk.copy(this.#piece, this.size)
  }

  addText(text: string): void {
    this.size += this.#piece.write(text, this.size)
  }

  /** `copyTo` returns the index behind what it has written. */
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

  /** Its request has ended, and no further attempt begins. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#memory.release(this.#readers === 0 ? this.#piece : null)
  }
}
