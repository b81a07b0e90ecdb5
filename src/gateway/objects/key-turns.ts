/** Of one key on this thread, so many are with the store's thread at once. */
const atOnce = 4
/** And so many wait for that here: who has more waiting asks faster than anybody could be answered. */
const mostWaiting = 200

interface Turns {
  running: number
  readonly waiting: Waiting[]
}

interface Waiting {
  begin(): void
}

/**
 * Whose look-ups go next: each key has the same few places, so that one who asks for thousands of names keeps nobody else's
 * waiting.
 */
export class KeyTurns {
  readonly #limitMs: number
  readonly #keys = new Map<string, Turns>()

  /** `limitMs`: longest wait for a turn. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Null when it is this key's turn, which `leave` must end; else why there will be none. */
  take(key: string): Promise<string | null> | null {
    const turns = this.#keys.get(key)
    if (turns === undefined) {
      this.#keys.set(key, { running: 1, waiting: [] })
      return null
    }
    if (turns.running < atOnce) {
      turns.running++
      return null
    }
    if (turns.waiting.length >= mostWaiting)
      return Promise.resolve(`the key has ${mostWaiting} look-ups waiting already`)
    return this.#wait(turns)
  }

  leave(key: string): void {
    const turns = this.#keys.get(key)!
    const next = turns.waiting.shift()
    if (next !== undefined) return next.begin()
    turns.running--
    if (turns.running === 0) this.#keys.delete(key)
  }

  #wait(turns: Turns): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const one: Waiting = {
      begin() {
        clearTimeout(timer)
        resolve(null)
      },
    }
    const timer = setTimeout(() => {
      turns.waiting.splice(turns.waiting.indexOf(one), 1)
      resolve(`other look-ups of the key took more than ${this.#limitMs} ms`)
    }, this.#limitMs)
    turns.waiting.push(one)
    return promise
  }
}
