/** What waits for the second half of an exchange: a challenge, a secret not confirmed. Each is taken once, or forgotten. */
export class PendingValues<Value> {
  /** `until`: by a clock that nobody sets. */
  readonly #kept = new Map<string, { value: Value; until: number }>()
  readonly #lifeMs: number
  readonly #most: number

  /** `most`: beyond it the oldest is forgotten, since strangers may begin as many as they like. */
  constructor(lifeMs: number, most = 1000) {
    this.#lifeMs = lifeMs
    this.#most = most
  }

  put(key: string, value: Value): void {
    this.#kept.delete(key)
    this.#kept.set(key, { value, until: performance.now() + this.#lifeMs })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#most) return
      this.#kept.delete(oldest)
    }
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
