import type { TimeLimits } from '../../core/lane.ts'

/**
 * Many time limits on one timer. A limit that moves with every chunk is a number written, not a timer re-armed
 * (timers were 9 % of the profile with one each). Limits fire up to one tick late, never early.
 */
const tickMs = 25
/**
 * A tick that is later than this means that the process did not run (a suspended container, an overloaded machine). Data that came
 * meanwhile has not been read yet, and the other side may have been suspended too: that time counts against no limit.
 */
const stalledMs = 500

export class Deadline implements ListMember {
  place = -1
  /** On the monotonic clock (`performance.now()`); Infinity: off. */
  at = Number.POSITIVE_INFINITY
  readonly fire: () => void

  constructor(fire: () => void) {
    this.fire = fire
  }
}

export class Deadlines {
  readonly #armed = new LiveList<Deadline>()
  #timer: NodeJS.Timeout | null = null
  #ticked = 0

  add(deadline: Deadline): void {
    this.#armed.add(deadline)
    if (this.#timer !== null) return
    this.#ticked = performance.now()
    this.#timer = setInterval(() => this.#tick(), tickMs)
  }

  /** The timer runs until a tick finds no limits: under load the last one is removed and the next one added all the time. */
  remove(deadline: Deadline): void {
    this.#armed.remove(deadline)
  }

  /** Resolves after `ms`, or as soon as `cancel` is called on what it returns. */
  sleep(ms: number): { done: Promise<void>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const deadline = new Deadline(() => finish())
    const finish = () => {
      this.remove(deadline)
      resolve()
    }
    deadline.at = performance.now() + ms
    this.add(deadline)
    return { done: promise, cancel: finish }
  }

  #tick(): void {
    if (this.#armed.size === 0) return this.#stop()
    const now = performance.now()
    const stalled = now - this.#ticked - tickMs
    this.#ticked = now
    if (stalled > stalledMs) return this.#putOff(stalled)
    for (const deadline of this.#armed.all()) {
      if (deadline.at > now || deadline.place < 0) continue
      deadline.at = Number.POSITIVE_INFINITY
      deadline.fire()
    }
  }

  #putOff(milliseconds: number): void {
    for (const deadline of this.#armed.all()) deadline.at += milliseconds
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }
}

export type LimitName = 'total' | 'first_byte' | 'between_chunks'

export interface CallLimitsOptions {
  deadlines: Deadlines
  limits: TimeLimits
  /** Monotonic time by which the answer must be complete, over all attempts. For an upload it starts once the body has been sent. */
  totalAt: number
  /** The request's body is sent as a stream, which keeps its own time limits until `bodySent`. */
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

  /** Whether a download may take as long as it likes while bytes keep coming. */
  get hasNoTotal(): boolean {
    return this.#totalAt === Number.POSITIVE_INFINITY
  }

  dropTotal(): void {
    this.#totalAt = Number.POSITIVE_INFINITY
  }

  /** The last byte of an upload has been sent: from now on the answer's limits apply. */
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

  /** The provider is not silent while the client is slow. Without a total limit the client must read something in time. */
  waitForClient(): void {
    this.#deadline.at = this.hasNoTotal ? performance.now() + this.#limits.betweenChunks : this.#totalAt
  }

  /** The limit that was exceeded, and its length. */
  exceeded(): { name: LimitName; ms: number } {
    if (performance.now() >= this.#totalAt) return { name: 'total', ms: this.#limits.total }
    if (this.#phase === 'first_byte') return { name: 'first_byte', ms: this.#limits.firstByte }
    return { name: 'between_chunks', ms: this.#limits.betweenChunks }
  }

  end(): void {
    this.#deadlines.remove(this.#deadline)
  }
}

/** A member of a list that knows its own index. */
export interface ListMember {
  /** -1 while it is in no list. */
  place: number
}

/**
 * An unordered list whose members are added and removed constantly. Under that use a `Set` copies its table again and again, and old
 * tables, once promoted, keep everything that was ever in them alive until the next full collection (measured: a fifth of what was
 * allocated survived, and the collector took 30% of the time).
 */
export class LiveList<Item extends ListMember> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.place >= 0) return
    item.place = this.#items.length
    this.#items.push(item)
  }

  remove(item: Item): void {
    if (item.place < 0) return
    const last = this.#items.pop()
    if (last !== undefined && last !== item) {
      this.#items[item.place] = last
      last.place = item.place
    }
    item.place = -1
  }

  /** A copy, since the list may change while the caller iterates. */
  all(): Item[] {
    return this.#items.slice()
  }
}
