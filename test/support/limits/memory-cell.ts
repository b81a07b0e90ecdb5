import type { AllowanceCell } from '../../../src/cluster/limits/granted-row.ts'

/** A counter for random numbers from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What a thread of the data plane takes from. */
export class MemoryCell implements AllowanceCell {
  #bucket = 0
  #free = 0
  wanted: number[] = []

  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  limit(): number {
    return this.#limit
  }
  adopt(): number {
    return this.takeBack() * 0
  }
  put(bucket: number, amount: number): void {
    this.#bucket = bucket
    this.#free += amount
  }
  takeBack(): number {
    const free = this.#free
    this.#free = 0
    return free
  }
  free(): number {
    return this.#free
  }
  corrected(): number {
    return 0
  }
  dropCorrections(): void {}
  waiting() {
    const all = this.wanted.reduce((sum, amount) => sum + amount, 0)
    return { least: all === 0 ? 0 : Math.min(...this.wanted), all }
  }
  take(bucket: number | null, amount: number): boolean {
    if (bucket !== this.#bucket || this.#free < amount) return false
    this.#free -= amount
    return true
  }
  /** Of requests at once. */
  putBack(): void {
    this.#free += 1
  }
}
