import { stallAwareTimeout } from '../../core/stall-aware-timeout.ts'

/** Of one key on this thread, so many names are with the store's thread at once: two requests of the largest, or hundreds of small ones. */
const mostNames = 2000
/** And so many requests wait for that here: who has more waiting asks faster than anybody could be answered. */
const mostWaiting = 1000

interface Turns {
  /** Names that are asked for now. */
  running: number
  readonly waiting: Waiting[]
}

interface Waiting {
  readonly names: number
  begin(): void
}

/** Whose look-ups go next: each key has the same room, so that one who asks for thousands of names keeps nobody else's waiting. */
export class FairQueue {
  readonly #limitMs: number
  readonly #keys = new Map<string, Turns>()

  /** `limitMs`: longest wait for a turn. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Null when it is this key's turn, which `leave` must end with the same number; else why there will be none. */
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
