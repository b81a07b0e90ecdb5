/**
 * Many time limits on one timer. A limit that moves with every chunk is a number written, not a timer re-armed
 * (timers were 9 % of the profile with one each). Limits fire up to one tick late, never early.
 */
const tickMs = 25

export class Deadline {
  /** On the monotonic clock (`performance.now()`); Infinity is off. */
  at = Number.POSITIVE_INFINITY
  readonly fire: () => void

  constructor(fire: () => void) {
    this.fire = fire
  }
}

export class Deadlines {
  readonly #armed = new Set<Deadline>()
  #timer: NodeJS.Timeout | null = null

  add(deadline: Deadline): void {
    this.#armed.add(deadline)
    this.#timer ??= setInterval(() => this.#tick(), tickMs)
  }

  remove(deadline: Deadline): void {
    this.#armed.delete(deadline)
    if (this.#armed.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
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
    const now = performance.now()
    for (const deadline of this.#armed) {
      if (deadline.at > now) continue
      deadline.at = Number.POSITIVE_INFINITY
      deadline.fire()
    }
  }
}
