import { type LimitRows, rowHead } from './limit-memory.ts'

/**
 * Amounts within any 60 seconds: of tokens here, of requests in `request-window.ts`. There are 31 buckets of 2 seconds and their total,
 * which alone decides. A bucket counts until 62 seconds after it began, so that what was granted at its very end has counted for 60: no
 * minute ever exceeds the limit. A bucket's upper bits are its number. An old bucket's amount is subtracted from the total only by the
 * thread that cleared it, so the total is never too low. Decision 0053.
 */

const bucketMs = 2000
export const buckets = 31
const amountBits = 40n
const amountMask = (1n << amountBits) - 1n
/** Words after a row's head: the total, the bucket up to which old ones were cleared, the buckets. */
const total = rowHead
const swept = rowHead + 1
const first = rowHead + 2

/** Counts amounts within any 60 seconds in the row of a limit. */
export interface LimitWindow {
  /** 64-bit words after a row's head. */
  size: number
  /** Books an amount if it fits within the limit, and returns what remains. Negative: it was not booked, and this much is missing. */
  take(rows: WindowRows, row: number, amount: number, limit: number, epoch: number): number
  /** Replaces the amount booked at `booked.epoch`: less if that bucket still counts, more from now on. */
  correct(rows: WindowRows, row: number, booked: { amount: number; epoch: number }, actual: number, epoch: number): void
  used(rows: WindowRows, row: number, epoch: number): number
  /** Milliseconds until enough has expired for an amount to fit; at most until the window is empty. */
  wait(rows: WindowRows, row: number, missing: number, now: number): number
}

/** The same memory twice: as 64-bit words and as 32-bit cells. */
export type WindowRows = Pick<LimitRows, 'words' | 'cells'>

export const epochAt = (now: number): number => Math.floor(now / bucketMs)
/** Milliseconds until bookings in that bucket no longer count. */
export const livesFor = (epoch: number, now: number): number => (epoch + buckets) * bucketMs - now

const epochOf = (word: bigint): number => Number(word >> amountBits)
const pack = (epoch: number, amount: bigint): bigint => (BigInt(epoch) << amountBits) | amount

export const tokenWindow: LimitWindow = {
  size: 2 + buckets,

  take({ words }, row, amount, limit, epoch) {
    sweep(words, row, epoch)
    for (;;) {
      const found = Atomics.load(words, row + total)
      const left = limit - Number(found) - amount
      if (left < 0) return left
      if (Atomics.compareExchange(words, row + total, found, found + BigInt(amount)) !== found) continue
      fill(words, row, BigInt(amount), epoch)
      return left
    }
  },

  correct({ words }, row, booked, actual, epoch) {
    if (actual > booked.amount) addWindow(words, row, actual - booked.amount, epoch)
    else if (actual < booked.amount) unbook(words, row, booked.amount - actual, booked.epoch)
  },

  used({ words }, row, epoch) {
    sweep(words, row, epoch)
    return Number(Atomics.load(words, row + total))
  },

  wait({ words }, row, missing, now) {
    const epoch = epochAt(now)
    let leaving = 0
    for (let at = epoch - buckets + 1; at <= epoch; at++) {
      const word = Atomics.load(words, row + first + (at % buckets))
      if (epochOf(word) === at) leaving += Number(word & amountMask)
      if (leaving >= missing) return livesFor(at, now)
    }
    return livesFor(epoch, now)
  },
}

/** Books use regardless of the limit. */
function addWindow(words: BigInt64Array, row: number, amount: number, epoch: number): void {
  sweep(words, row, epoch)
  Atomics.add(words, row + total, BigInt(amount))
  fill(words, row, BigInt(amount), epoch)
}

function sweep(words: BigInt64Array, row: number, epoch: number): void {
  const before = Atomics.load(words, row + swept)
  if (Number(before) >= epoch) return
  for (let place = row + first; place < row + first + buckets; place++) {
    const word = Atomics.load(words, place)
    if (word === 0n || epochOf(word) > epoch - buckets) continue
    if (Atomics.compareExchange(words, place, word, 0n) === word) Atomics.sub(words, row + total, word & amountMask)
  }
  // Another thread may have advanced it already.
  Atomics.compareExchange(words, row + swept, before, BigInt(epoch))
}

function fill(words: BigInt64Array, row: number, amount: bigint, epoch: number): void {
  const place = row + first + (epoch % buckets)
  for (;;) {
    const word = Atomics.load(words, place)
    const isOld = epochOf(word) < epoch
    if (Atomics.compareExchange(words, place, word, isOld ? pack(epoch, amount) : word + amount) !== word) continue
    if (isOld) Atomics.sub(words, row + total, word & amountMask)
    return
  }
}

function unbook(words: BigInt64Array, row: number, amount: number, epoch: number): void {
  const place = row + first + (epoch % buckets)
  for (;;) {
    const word = Atomics.load(words, place)
    if (epochOf(word) !== epoch) return
    const held = word & amountMask
    const given = held < BigInt(amount) ? held : BigInt(amount)
    if (Atomics.compareExchange(words, place, word, word - given) !== word) continue
    Atomics.sub(words, row + total, given)
    return
  }
}
