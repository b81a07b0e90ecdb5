/** How much of a body is captured. A journal segment has room for two, even if they do not compress. */
export const bodyBytes = 1024 * 1024
/** Read beyond the bound, so that a secret across it is found whole. */
export const marginBytes = 1024
/** For all answers that a thread captures at once. An answer that finds no room is cut off earlier. */
const roomBytes = 64 * 1024 * 1024
const firstBytes = 4 * 1024

/** The memory that a thread's captured answers take. */
export class CaptureBudget {
  #taken = 0

  get taken(): number {
    return this.#taken
  }

  take(bytes: number): boolean {
    if (this.#taken + bytes > roomBytes) return false
    this.#taken += bytes
    return true
  }

  release(bytes: number): void {
    this.#taken -= bytes
  }
}

/** Copies the beginning of a body that comes in pieces: the pieces are views of larger buffers. */
export class KeptBytes {
  /** The length of the whole body. */
  total = 0
  readonly #room: CaptureBudget
  #buffer: Buffer = Buffer.alloc(0)
  #length = 0
  #full = false

  constructor(room: CaptureBudget) {
    this.#room = room
  }

  add(bytes: Buffer): void {
    this.total += bytes.length
    if (this.#full) return
    const wanted = Math.min(this.#length + bytes.length, bodyBytes + marginBytes)
    if (wanted > this.#buffer.length && !this.#grow(wanted)) this.#full = true
    this.#length += bytes.copy(this.#buffer, this.#length)
    if (this.#length === bodyBytes + marginBytes) this.#full = true
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** The captured bytes are not read any more. */
  release(): void {
    this.#room.release(this.#buffer.length)
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
    this.#full = true
  }

  #grow(wanted: number): boolean {
    const size = Math.min(Math.max(wanted, firstBytes, 2 * this.#buffer.length), bodyBytes + marginBytes)
    if (!this.#room.take(size - this.#buffer.length)) return false
    const grown = Buffer.allocUnsafeSlow(size)
    this.bytes.copy(grown)
    this.#buffer = grown
    return true
  }
}
