/**
 * Many time limits on one timer. A limit that moves with every chunk is a number written, not a timer re-armed
 * (timers were 9 % of the profile with one each). Limits fire up to one tick late, never early.
 */
const tickMs = 25
/**
 * A tick later than that: this process was not run (a container that is held, a machine with others to serve). What came meanwhile is
 * not read yet, and whoever is waited for may have been held as well: the time counts for nobody.
 */
const stalledMs = 500

export class Deadline implements ListMember {
  place = -1
  /** On the monotonic clock (`performance.now()`); Infinity is off. */
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

  /** The timer stays until a tick finds nothing to do: under load the last limit goes and the next comes all the time. */
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

/** What stands in a list knows its own place in it. */
export interface ListMember {
  /** -1 while it stands in none. */
  place: number
}

/**
 * A list that things join and leave all the time, in no order. Instead of a `Set`: whose table is copied over and over
 * under that use, and the old ones, once promoted, kept all that was ever in them alive until the next full collection
 * (measured: a fifth of what was allocated survived, and the collector took 30 % of the time).
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

  /** As it stands now: it may change while one goes through the copy. */
  all(): Item[] {
    return this.#items.slice()
  }
}
