import { networkOf } from './network.ts'

/** What waits for the second half of an exchange: a challenge, a secret not confirmed. Each is taken once, or forgotten. */
export class PendingValues<Value> {
  /** `until`: by a clock that nobody sets. */
  readonly #kept = new Map<string, { value: Value; until: number; from: string }>()
  readonly #lifeMs: number
  readonly #most: number

  /** `most`: beyond it the oldest is forgotten of whoever has begun the most, since strangers may begin as many as they like. */
  constructor(lifeMs: number, most = 1000) {
    this.#lifeMs = lifeMs
    this.#most = most
  }

  /** `from`: an address, or who is signed in. */
  put(key: string, value: Value, from: string): void {
    this.#kept.delete(key)
    this.#kept.set(key, { value, until: performance.now() + this.#lifeMs, from: networkOf(from) })
    if (this.#kept.size > this.#most) this.#forgetOne()
  }

  #forgetOne(): void {
    const counts = new Map<string, number>()
    for (const { from } of this.#kept.values()) counts.set(from, (counts.get(from) ?? 0) + 1)
    const most = Math.max(...counts.values())
    for (const [key, { from }] of this.#kept) if (counts.get(from) === most) return void this.#kept.delete(key)
  }

  /** Looks without taking. */
  peek(key: string): Value | null {
    const found = this.#kept.get(key)
    return found === undefined || found.until < performance.now() ? null : found.value
  }

  take(key: string): Value | null {
    const value = this.peek(key)
    this.#kept.delete(key)
    return value
  }
}
