import type { TimeLimits } from '../../core/lane.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'

export type LimitName = 'total' | 'first_byte' | 'between_chunks'

export interface CallLimitsOptions {
  deadlines: Deadlines
  limits: TimeLimits
  /** Monotonic moment at which the answer must be over, whatever attempts it takes. Of an upload: counted once it has left. */
  totalAt: number
  /** The request's body goes up as a stream, which keeps its own time until `bodySent`. */
  uploading: boolean
}

/**
 * The time limits of one upstream call as one deadline, whose moment moves:
 *
 * | while | the call ends at |
 * |---|---|
 * | the body of an upload leaves | no time of this class: the upload watches itself |
 * | the provider is waited for | the end of the phase (first byte, next chunk) or the total limit, whichever is first |
 * | the client is waited for | the total limit; a download without one: the client has one phase to take something |
 */
export class CallLimits {
  readonly #limits: TimeLimits
  readonly #deadlines: Deadlines
  readonly #deadline: Deadline
  #totalAt: number
  #uploading: boolean
  #phase: LimitName = 'first_byte'
  #phaseMs = 0

  constructor({ deadlines, limits, totalAt, uploading }: CallLimitsOptions, timedOut: () => void) {
    this.#limits = limits
    this.#deadlines = deadlines
    this.#uploading = uploading
    this.#totalAt = uploading ? Number.POSITIVE_INFINITY : totalAt
    this.#deadline = new Deadline(timedOut)
    this.#deadline.at = this.#totalAt
    deadlines.add(this.#deadline)
  }

  /** However long a download takes, as long as it goes on. */
  get hasNoTotal(): boolean {
    return this.#totalAt === Number.POSITIVE_INFINITY
  }

  dropTotal(): void {
    this.#totalAt = Number.POSITIVE_INFINITY
  }

  /** The last byte of an upload has left: from here on the limits of an answer hold. */
  bodySent(): void {
    this.#uploading = false
    this.#totalAt = performance.now() + this.#limits.total
    this.waitForProvider()
  }

  /** The head of a whole answer may take as long as the answer itself. */
  enterFirstByte(streamed: boolean): void {
    this.#phase = 'first_byte'
    this.#phaseMs = streamed ? this.#limits.firstByte : Number.POSITIVE_INFINITY
    this.waitForProvider()
  }

  enterBetweenChunks(): void {
    this.#phase = 'between_chunks'
    this.#phaseMs = this.#limits.betweenChunks
    this.waitForProvider()
  }

  waitForProvider(): void {
    if (!this.#uploading) this.#deadline.at = Math.min(this.#totalAt, performance.now() + this.#phaseMs)
  }

  /** A slow client does not make the provider silent. Where there is no limit on the whole call, it must read something in time. */
  waitForClient(): void {
    this.#deadline.at = this.hasNoTotal ? performance.now() + this.#limits.betweenChunks : this.#totalAt
  }

  /** The limit that has passed, and how long it was. */
  exceeded(): { name: LimitName; ms: number } {
    if (performance.now() >= this.#totalAt) return { name: 'total', ms: this.#limits.total }
    if (this.#phase === 'first_byte') return { name: 'first_byte', ms: this.#limits.firstByte }
    return { name: 'between_chunks', ms: this.#limits.betweenChunks }
  }

  end(): void {
    this.#deadlines.remove(this.#deadline)
  }
}
