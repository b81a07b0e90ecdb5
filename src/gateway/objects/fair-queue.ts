import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'

/** Names of one key that this thread may be looking up at once: two of the largest requests, or hundreds of small ones. */
const mostNames = 2000
/** Requests of one key that may wait for their turn: a key with more sends them faster than they can be answered. */
const mostWaiting = 1000

interface Turns {
  /** Names being looked up now. */
  running: number
  readonly waiting: Waiting[]
}

interface Waiting {
  readonly names: number
  begin(): void
}

/** Decides whose look-ups go next. Each key has the same share, so that one key with thousands of names does not delay the others. */
export class FairQueue {
  readonly #limitMs: number
  readonly #keys = new Map<string, Turns>()

  /** `limitMs`: the longest wait for a turn. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /**
   * Null: the look-up may start, and `leave` must be called with the same number. Otherwise resolves to null when it may start, or to the
   * reason why it may not.
   */
  take(key: string, names: number): Promise<string | null> | null {
    const turns = this.#keys.get(key)
    if (turns === undefined) {
      this.#keys.set(key, { running: names, waiting: [] })
      return null
    }
    if (turns.waiting.length === 0 && turns.running + names <= mostNames) {
      turns.running += names
      return null
    }
    if (turns.waiting.length >= mostWaiting)
      return Promise.resolve(`the key has ${mostWaiting} look-ups waiting already`)
    return this.#wait(turns, names)
  }

  leave(key: string, names: number): void {
    const turns = this.#keys.get(key)
    if (turns === undefined) return
    turns.running -= names
    for (let [next] = turns.waiting; next !== undefined; [next] = turns.waiting) {
      if (turns.running > 0 && turns.running + next.names > mostNames) return
      turns.waiting.shift()
      turns.running += next.names
      next.begin()
    }
    if (turns.running === 0) this.#keys.delete(key)
  }

  #wait(turns: Turns, names: number): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const one: Waiting = {
      names,
      begin() {
        timeout.cancel()
        resolve(null)
      },
    }
    const timeout = stallAwareTimeout(this.#limitMs, () => {
      turns.waiting.splice(turns.waiting.indexOf(one), 1)
      resolve(`other look-ups of the key took more than ${this.#limitMs} ms`)
    })
    turns.waiting.push(one)
    return promise
  }
}
