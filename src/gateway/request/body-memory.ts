import { poison } from '../../core/fault-point.ts'
import type { BorrowedBody } from '../../providers/contract.ts'

/** Of one piece; what a body does not reach of it, the operating system never provides. */
const pieceBytes = 8 * 1024 * 1024
/** Smaller bodies cost less than keeping account of them. */
export const smallestBody = 128 * 1024
/** As many as are out at once; whoever finds none takes memory of its own. */
const mostPieces = 8
/** As many as are kept for the next bodies, and how often they are let go all the same. */
const keptPieces = 4
const keptMs = 5_000

/**
 * Memory for large bodies that serves one after the other: to get a megabyte from the operating system, and to have V8 look for what became
 * of it, costs more than all else that is done with the body. Only what nobody can read any more is used again;
 * where that is not certain, the garbage collector gets it. docs/decisions/0043.
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

  /** `piece` null: somebody may still read it. */
  giveBack(piece: Buffer | null): void {
    this.#out--
    if (poison !== null) piece?.fill(poison)
    if (piece === null || this.#free.length === keptPieces) return
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
    this.#memory.giveBack(this.#readers === 0 ? this.#piece : null)
  }
}
