import { rowHead } from './limit-memory.ts'

/**
 * What is used of a budget in a day or month. A row has two halves, for periods with even and odd numbers, so that a request that settles
 * after midnight is booked on the old day while the new one begins. A half is {period, used including held, settled, number of holds}. The
 * first thread that needs a half for a new period claims it, zeroes it, then writes the period. If it dies in between, the control plane
 * ends its claim.
 */
export const halfWords = 4
const used = 1
const settled = 2
const holds = 3
export const periodSize = 2 * halfWords

/** Larger than any period's number: a claim, plus the thread's column. */
const claim = 1n << 40n

/** How often to read a half that another thread is opening. */
const mostReads = 1000

export interface Claimer {
  column: number
  note(half: number): void
}

/** The place of a period's half; null: it is being opened, or the row has gone on to a later period and may not go `back`. */
export function openPeriod(
  words: BigInt64Array,
  row: number,
  period: number,
  claimer: Claimer,
  back = false,
): number | null {
  const half = halfOf(row, period)
  const wanted = BigInt(period)
  for (let step = 0; step < mostReads; step++) {
    const found = Atomics.load(words, half)
    if (found === wanted) return half
    if (found >= claim) continue
    if (found > wanted && !back) return null
    claimer.note(half)
    const own = claim + BigInt(claimer.column)
    const mine = Atomics.compareExchange(words, half, found, own) === found
    if (mine) {
      for (const place of [used, settled, holds]) Atomics.store(words, half + place, 0n)
      Atomics.store(words, half, wanted)
    }
    claimer.note(0)
    if (mine) return half
  }
  return null
}

/** A thread died while opening the half: lets the next one open it. */
export function endClaim(words: BigInt64Array, half: number, column: number): void {
  Atomics.compareExchange(words, half, claim + BigInt(column), 0n)
}

/** Adds spending from before the process began. */
export function addSettled(words: BigInt64Array, half: number, amount: bigint): void {
  Atomics.add(words, half + settled, amount)
  Atomics.add(words, half + used, amount)
}

/** What a batch holds since before the process began. */
export function addHeld(words: BigInt64Array, half: number, amount: bigint): void {
  Atomics.add(words, half + used, amount)
  countHold(words, half, 1n)
}

/** Holds an amount if it fits within the limit; `limit` null: always. False: it does not fit. */
export function takePeriod(words: BigInt64Array, half: number, amount: bigint, limit: bigint | null): boolean {
  for (;;) {
    const found = Atomics.load(words, half + used)
    if (limit !== null && found + amount > limit) return false
    if (Atomics.compareExchange(words, half + used, found, found + amount) === found) return true
  }
}

export function countHold(words: BigInt64Array, half: number, change: 1n | 0n | -1n): void {
  Atomics.add(words, half + holds, change)
}

/**
 * Replaces a hold by the actual amount. Does nothing if the half has moved on to another period, which no limit compares with. A request
 * from two periods earlier that ends exactly while the half is opened is counted in the new one. `holders`: the change in their number; a
 * connection counts until it ends.
 */
export function settlePeriod(
  words: BigInt64Array,
  half: number,
  period: number,
  held: bigint,
  actual: bigint,
  holders: 0n | -1n,
): void {
  if (!isPeriod(words, half, period)) return
  Atomics.add(words, half + settled, actual)
  Atomics.add(words, half + used, actual - held)
  countHold(words, half, holders)
}

/** Books the hold of a dead thread as spent: its requests are charged their holds. */
export function spendHold(words: BigInt64Array, half: number, held: bigint): void {
  Atomics.add(words, half + settled, held)
  countHold(words, half, -1n)
}

/** Whether a half still is that period's. */
export const isPeriod = (words: BigInt64Array, half: number, period: number): boolean =>
  Atomics.load(words, half) === BigInt(period)

/** Spent and held, of whichever period the half is. */
export const wholeOf = (words: BigInt64Array, half: number): bigint => Atomics.load(words, half + used)

export const halfOf = (row: number, period: number): number => row + rowHead + (period % 2) * halfWords

export interface PeriodUse {
  /** Spent. */
  used: number
  held: number
  /** The number of requests with a hold. */
  holders: number
  /**
   * For a budget that nodes share: `elsewhere`: the part of `held` that other nodes have; `free`: the part of this node's allowance that is
   * unused.
   */
  shared?: { elsewhere: number; free: number }
}

/** The use of a half; zero if it belongs to another period. */
export function readHalf(words: BigInt64Array, half: number, period: number): PeriodUse {
  if (!isPeriod(words, half, period)) return { used: 0, held: 0, holders: 0 }
  const spent = Number(Atomics.load(words, half + settled))
  const whole = Number(Atomics.load(words, half + used))
  return { used: spent, held: Math.max(0, whole - spent), holders: Number(Atomics.load(words, half + holds)) }
}
