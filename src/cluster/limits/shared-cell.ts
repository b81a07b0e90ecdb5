import type { LimitRows } from '../../policy/limits/limit-memory.ts'
import {
  amountBits,
  amountMask,
  corrections,
  firstCorrection,
  pack,
  sharedPlace,
  tagOf,
  zero,
} from '../../policy/limits/shared-window.ts'
import type { AllowanceCell } from './granted-row.ts'

/** A limit's row in shared memory, which only the cluster thread fills. */
export class SharedCell implements AllowanceCell {
  readonly #words: BigInt64Array
  readonly #row: number
  readonly #slots: boolean
  #waiting: { amount: number; until: number }[] = []

  constructor({ words }: Pick<LimitRows, 'words'>, row: number, slots: boolean) {
    this.#words = words
    this.#row = row
    this.#slots = slots
  }

  /** For requests at once: running requests that began under an earlier cluster thread. */
  adopt(): number {
    this.takeBack()
    return this.#slots ? Number(Atomics.load(this.#words, this.#row + sharedPlace.put)) : 0
  }

  limit(): number {
    return Number(Atomics.load(this.#words, this.#row + sharedPlace.limit))
  }

  put(bucket: number, amount: number): void {
    const tag = this.#slots ? 0n : tagOf(bucket)
    if (this.#slots) Atomics.add(this.#words, this.#row + sharedPlace.put, BigInt(amount))
    for (;;) {
      const found = Atomics.load(this.#words, this.#row + sharedPlace.free)
      const next = found >> amountBits === tag ? found + BigInt(amount) : pack(tag, BigInt(amount))
      if (Atomics.compareExchange(this.#words, this.#row + sharedPlace.free, found, next) === found) break
    }
  }

  takeBack(): number {
    for (;;) {
      const found = Atomics.load(this.#words, this.#row + sharedPlace.free)
      const free = found & amountMask
      if (Atomics.compareExchange(this.#words, this.#row + sharedPlace.free, found, found - free) !== found) continue
      if (this.#slots) Atomics.sub(this.#words, this.#row + sharedPlace.put, free)
      return Number(free)
    }
  }

  free(): number {
    return Number(Atomics.load(this.#words, this.#row + sharedPlace.free) & amountMask)
  }

  corrected(bucket: number): number {
    const found = Atomics.load(this.#words, this.#row + firstCorrection + (bucket % corrections))
    return !this.#slots && found >> amountBits === tagOf(bucket) ? Number((found & amountMask) - zero) : 0
  }

  dropCorrections(): void {
    for (let at = 0; at < corrections; at++) Atomics.store(this.#words, this.#row + firstCorrection + at, 0n)
  }

  /** Notes that a request waits until then. */
  wait(amount: number, until: number): void {
    this.#waiting.push({ amount, until })
  }

  waiting(): { least: number; all: number } {
    let [least, all] = [0, 0]
    for (const { amount } of this.#waiting) {
      least = least === 0 ? amount : Math.min(least, amount)
      all += amount
    }
    return { least, all }
  }

  /** Drops waits that are over. */
  forgetWaiting(now: number): void {
    if (this.#waiting.length > 0) this.#waiting = this.#waiting.filter(({ until }) => until > now)
  }

  /**
   * Wakes all waiting requests. `room`: what other nodes left; `refusedUntil`: not worth asking before then (0: worth it); `freesAt`: when
   * there will be room (0: unknown).
   */
  answer(room: number, refusedUntil: number, freesAt: number): void {
    this.#waiting = []
    Atomics.store(this.#words, this.#row + sharedPlace.room, BigInt(Math.max(0, Math.floor(room))))
    Atomics.store(this.#words, this.#row + sharedPlace.refusedUntil, BigInt(Math.ceil(refusedUntil)))
    Atomics.store(this.#words, this.#row + sharedPlace.freesAt, BigInt(Math.ceil(freesAt)))
    Atomics.add(this.#words, this.#row + sharedPlace.answers, 1n)
    Atomics.notify(this.#words, this.#row + sharedPlace.answers)
  }
}

/** The name of a row among nodes: the hash of its counter's name. */
export function sharedName({ words }: Pick<LimitRows, 'words'>, row: number): string {
  const half = (at: number) => BigInt.asUintN(64, Atomics.load(words, at)).toString(16).padStart(16, '0')
  return half(row) + half(row + 1)
}
