import { Readable } from 'node:stream'

export interface UploadSource {
  /** The body has handed over everything that it was given. May call `push` or `finish` at once. */
  next(body: UploadBody): void
  /** The last byte was read. */
  sent(): void
  /** The attempt has ended: it reads no more. */
  abandoned(body: UploadBody): void
}

/**
 * The body of one attempt: first what is held, then what its source pushes. It never ends by itself, so that a truncated body never looks
 * complete.
 */
export class UploadBody extends Readable {
  readonly #source: UploadSource
  #pieces: Buffer[]
  #next = 0

  constructor(pieces: Buffer[], source: UploadSource) {
    super({ highWaterMark: 64 * 1024 })
    this.#pieces = pieces
    this.#source = source
    // The cause is reported elsewhere; an error without a listener would end the thread.
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
