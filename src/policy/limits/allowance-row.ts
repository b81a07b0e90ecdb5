import { shareOf, shareWord } from './allowance.ts'
import { readHalf, wholeOf } from './period-row.ts'

/** What the control plane knows of a budget when an answer has come. */
export interface AllowanceAnswer {
  refill: number
  othersSpent: number
  othersHeld: number
}

const cleared = ['allowance', 'refill', 'othersSpent', 'othersHeld', 'asked', 'refusedUntil', 'room'] as const

/** The control plane's hold on what this node was given of one budget in one period. One for each. */
export class AllowanceRow {
  readonly #words: BigInt64Array
  readonly #half: number
  readonly #share: number
  /** Of the period. */
  readonly number: number

  constructor(words: BigInt64Array, half: number, number: number) {
    this.#words = words
    this.#half = half
    this.number = number
    this.#share = shareOf(half, number)
    if (Atomics.load(words, this.#share + shareWord.period) === BigInt(number)) return
    // Whoever reads finds the old period's number with the old period's allowance, or the new one's with nothing.
    for (const place of cleared) this.#set(place, 0)
    this.#set('period', number)
  }

  /** Spent and held, by this node. */
  used(): number {
    return this.#isCurrent() ? Number(wholeOf(this.#words, this.#half)) : 0
  }

  spent(): number {
    return readHalf(this.#words, this.#half, this.number).used
  }

  allowance(): number {
    return Number(Atomics.load(this.#words, this.#share + shareWord.allowance))
  }

  /** Lowers it as far as what is used allows; returns what holds from here on. */
  lower(wanted: number): number {
    this.#set('allowance', wanted)
    const used = this.used()
    if (used > wanted) this.#set('allowance', used)
    return Math.max(used, wanted)
  }

  raise(given: number, answer: AllowanceAnswer): void {
    this.#set('othersSpent', answer.othersSpent)
    this.#set('othersHeld', answer.othersHeld)
    this.#set('refill', answer.refill)
    this.#set('allowance', given)
    this.#set('asked', 0)
  }

  /** What others have spent and have in hand, heard without asking for more. */
  note(othersSpent: number, othersHeld: number): void {
    this.#set('othersSpent', othersSpent)
    this.#set('othersHeld', othersHeld)
  }

  /** Whoever waits looks again. */
  wake(): void {
    Atomics.add(this.#words, this.#share + shareWord.answers, 1n)
    Atomics.notify(this.#words, this.#share + shareWord.answers)
  }

  refuse(until: number, left: number): void {
    this.#set('room', left)
    this.#set('refusedUntil', Math.ceil(until))
  }

  #isCurrent(): boolean {
    return Atomics.load(this.#words, this.#half) === BigInt(this.number)
  }

  #set(place: keyof typeof shareWord, value: number): void {
    Atomics.store(this.#words, this.#share + shareWord[place], BigInt(Math.floor(value)))
  }
}
