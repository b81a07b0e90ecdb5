/** Runs something repeatedly, never twice at once: after a pause, or as soon as it is woken. */
export class Repeater {
  readonly #everyMs: number
  readonly #run: () => Promise<void>
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #again = false
  #closed = false

  /** `run` must not reject. */
  constructor(everyMs: number, run: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#run = run
  }

  /** Runs now; if it is running, once more afterwards. */
  wake(): void {
    if (this.#closed) return
    if (this.#running !== null) {
      this.#again = true
      return
    }
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#again = false
    this.#running = this.#run().finally(() => {
      this.#running = null
      if (this.#closed) return
      if (this.#again) this.wake()
      else this.#timer = setTimeout(() => this.wake(), this.#everyMs)
    })
  }

  /** Resolves when it no longer runs. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }
}
