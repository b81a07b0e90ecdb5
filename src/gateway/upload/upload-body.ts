import { Readable } from 'node:stream'

export interface UploadSource {
  /** All that the body was given has been taken. May call `push` or `finish` at once. */
  next(body: UploadBody): void
  /** The last byte has been taken. */
  sent(): void
  /** The attempt is over: it reads no more. */
  abandoned(body: UploadBody): void
}

/** What one attempt sends: first what is held, then what its source pushes. Never ends by itself, so that a cut body never looks whole. */
export class UploadBody extends Readable {
  readonly #source: UploadSource
  #pieces: Buffer[]
  #next = 0

  constructor(pieces: Buffer[], source: UploadSource) {
    super({ highWaterMark: 64 * 1024 })
    this.#pieces = pieces
    this.#source = source
    // Whoever destroys it says why elsewhere; without a listener an error would end the thread.
    this.on('error', () => {})
    this.once('end', () => source.sent())
  }

  finish(): void {
    this.push(null)
  }

  override _read(): void {
    for (let piece = this.#pieces[this.#next]; piece !== undefined; piece = this.#pieces[this.#next]) {
      this.#pieces[this.#next++] = Buffer.alloc(0)
      if (!this.push(piece)) return
    }
    this.#pieces = []
    this.#next = 0
    this.#source.next(this)
  }

  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    this.#pieces = []
    this.#source.abandoned(this)
    done()
  }
}
