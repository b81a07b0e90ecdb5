/** A thread that dies younger than this died of its start, or of what it serves at once. */
const infancyMs = 10_000
const firstPauseMs = 50
const leastMs = 1000
/** With the start of the thread itself this still is within a second. */
const longestPauseMs = 500

/** How soon a dead thread is replaced: at once; but when the young die one after another, ever later, and never not at all. */
export class ReplacementPace {
  #inARow = 0
  #reason = ''

  /** A thread of this age died. Gives the pause before the next is started. */
  died(ageMs: number, reason: string): number {
    this.#inARow = ageMs < infancyMs ? this.#inARow + 1 : 1
    this.#reason = reason.split('\n')[0] ?? ''
    return this.#inARow === 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#inARow - 2))
  }

  /** Why there are fewer threads than there should be, or none that will stay; null: all is well. `youngestMs` is the age of the youngest. */
  evaluate(wanted: number, listening: number, youngestMs: number): string | null {
    if (this.#inARow === 0) return null
    if (listening < wanted)
      return `${listening} of ${wanted} data-plane threads are running, the rest are being replaced; the last crash: ${this.#reason}`
    if (this.#inARow < 3 || youngestMs >= infancyMs) return null
    return `${this.#inARow} data-plane threads in a row crashed soon after their start and were replaced; the last crash: ${this.#reason}`
  }

  /** When `judge` is worth asking again though nobody has died, in milliseconds. */
  ripensIn(youngestMs: number): number {
    return Math.max(leastMs, infancyMs - youngestMs)
  }
}
