import { shareOf, shareWord } from './allowance.ts'
import { readHalf, wholeOf } from './period-row.ts'

/** The state of a budget as of the authority's last answer. */
export interface AllowanceAnswer {
  refill: number
  othersSpent: number
  othersHeld: number
}

const cleared = ['allowance', 'refill', 'othersSpent', 'othersHeld', 'asked', 'refusedUntil', 'room'] as const

/** The control plane's access to this node's allowance of one budget in one period. There is one for each. */
export class AllowanceRow {
  readonly #words: BigInt64Array
  readonly #half: number
  readonly #share: number
  /** The period's number. */
  readonly number: number

  constructor(words: BigInt64Array, half: number, number: number) {
    this.#words = words
    this.#half = half
    this.number = number
    this.#share = shareOf(half, number)
    if (Atomics.load(words, this.#share + shareWord.period) === BigInt(number)) return
    // In this order a reader finds either the old period with its allowance, or the new one with an empty allowance.
    for (const place of cleared) this.#set(place, 0)
    this.#set('period', number)
  }

  /** Spent and held by this node. */
  used(): number {
    return this.#isCurrent() ? Number(wholeOf(this.#words, this.#half)) : 0
  }

  spent(): number {
    return readHalf(this.#words, this.#half, this.number).used
  }

  allowance(): number {
    return Number(Atomics.load(this.#words, this.#share + shareWord.allowance))
  }

  /** Lowers the allowance, but not below what is used. Returns the new allowance. */
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

  /** Notes what other nodes have spent and hold, if that became known without asking. */
  note(othersSpent: number, othersHeld: number): void {
    this.#set('othersSpent', othersSpent)
    this.#set('othersHeld', othersHeld)
  }

  /** Wakes requests that wait, so that they try again. */
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
