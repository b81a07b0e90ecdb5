import { networkOf } from './network.ts'
import { SignInRefused } from './refusal.ts'

interface Pace {
  /** Attempts without a wait. */
  free: number
  firstMs: number
  longestMs: number
}

/** Short, so that nobody keeps an operator out by failing in his name. */
const byName: Pace = { free: 5, firstMs: 1000, longestMs: 60_000 }
/** Behind one address may sit many people, but not many who all mistype. */
const byAddress: Pace = { free: 15, firstMs: 1000, longestMs: 15 * 60_000 }
const mostKept = 10_000

export interface SignInAttempt {
  succeed(): void
  /** It was none: neither failed nor done. */
  cancel(): void
}

/** Attempts to sign in, by name and by address: after the free ones each has to wait twice as long as the one before. */
export class Throttle {
  readonly #names = new Attempts(byName)
  readonly #addresses = new Attempts(byAddress)

  /**
   * Counts as failed until it is told otherwise, so that of many at once not one more gets through. Throws `SignInRefused`
   * when it is too early.
   */
  begin(name: string | null, address: string, now = Date.now()): SignInAttempt {
    const network = networkOf(address)
    const named = name?.toLowerCase() ?? null
    const waitMs = Math.max(this.#addresses.wait(network, now), named === null ? 0 : this.#names.wait(named, now))
    if (waitMs > 0) throw tooEarly(Math.ceil(waitMs / 1000))
    this.#addresses.count(network, now)
    if (named !== null) this.#names.count(named, now)
    return {
      cancel: () => {
        this.#addresses.uncount(network)
        if (named !== null) this.#names.uncount(named)
      },
      succeed: () => {
        // Only its own attempt: whoever has an account must not clear the way for guesses at others.
        this.#addresses.uncount(network)
        if (named !== null) this.#names.forget(named)
      },
    }
  }
}

function tooEarly(seconds: number): SignInRefused {
  const wait = seconds === 1 ? '1 second' : `${seconds} seconds`
  return new SignInRefused('throttled', 'Too many failed attempts.', `Try again in ${wait}.`, seconds)
}

class Attempts {
  readonly #pace: Pace
  readonly #kept = new Map<string, { count: number; last: number }>()

  constructor(pace: Pace) {
    this.#pace = pace
  }

  wait(key: string, now: number): number {
    const found = this.#kept.get(key)
    if (found === undefined) return 0
    // Where the clock was set back, its step is no part of the pause.
    found.last = Math.min(found.last, now)
    return Math.max(0, found.last + this.#pauseAfter(found.count) - now)
  }

  count(key: string, now: number): void {
    const found = this.#kept.get(key)
    // What has been quiet for so long begins anew.
    const count = found === undefined || now - found.last > 4 * this.#pace.longestMs ? 0 : found.count
    this.#kept.delete(key)
    this.#kept.set(key, { count: count + 1, last: now })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest)
  }

  uncount(key: string): void {
    const found = this.#kept.get(key)
    if (found !== undefined) found.count--
  }

  forget(key: string): void {
    this.#kept.delete(key)
  }

  #pauseAfter(count: number): number {
    const { free, firstMs, longestMs } = this.#pace
    return count < free ? 0 : Math.min(longestMs, firstMs * 2 ** Math.min(20, count - free))
  }
}
