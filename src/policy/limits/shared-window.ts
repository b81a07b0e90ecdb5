import type { BucketClock } from './bucket-clock.ts'
import { rowHead } from './limit-memory.ts'
import type { MinuteCounting } from './minute-counting.ts'
import type { LimitWindow } from './window.ts'

/**
 * A limit per minute, or on requests at once, that several nodes share: a request takes from what this node may use in the present bucket
 * of the cluster's clock. The cluster thread fills it, and asks the others for more (`src/cluster/limits/`). The upper bits of `free` are
 * the bucket's number, so that a grant for one bucket cannot be used in another. For requests at once there is no bucket, and what is taken
 * is put back. Decision 0066.
 */
export const sharedPlace = {
  free: rowHead,
  put: rowHead + 1,
  room: rowHead + 2,
  answers: rowHead + 3,
  refusedUntil: rowHead + 4,
  limit: rowHead + 5,
  freesAt: rowHead + 6,
}
export const firstCorrection = rowHead + 7
export const corrections = 8
/** Words after a row's head. */
const sharedSize = 7 + corrections

export const amountBits = 40n
export const amountMask = (1n << amountBits) - 1n
const tagMask = (1n << 23n) - 1n
/** Corrections may be negative, so they are stored relative to this. */
export const zero = 1n << (amountBits - 1n)

export const tagOf = (bucket: number): bigint => BigInt(bucket) & tagMask
export const pack = (tag: bigint, amount: bigint): bigint => (tag << amountBits) | amount

/** The part of the amount that is missing; 0: it was taken. `bucket` 0: requests at once. */
function take(words: BigInt64Array, row: number, amount: number, bucket: number): number {
  for (;;) {
    const found = Atomics.load(words, row + sharedPlace.free)
    const free = found >> amountBits === tagOf(bucket) ? Number(found & amountMask) : 0
    if (free < amount) return amount - free
    if (Atomics.compareExchange(words, row + sharedPlace.free, found, found - BigInt(amount)) === found) return 0
  }
}

/** False: that bucket is over. */
function putBack(words: BigInt64Array, row: number, amount: number, bucket: number): boolean {
  for (;;) {
    const found = Atomics.load(words, row + sharedPlace.free)
    if (found >> amountBits !== tagOf(bucket)) return false
    if (Atomics.compareExchange(words, row + sharedPlace.free, found, found + BigInt(amount)) === found) return true
  }
}

/** Whether this much was refused just now, so that asking again would give the same answer. `now`: of the clock that threads share. */
export function wasRefused(words: BigInt64Array, row: number, missing: number, now: number): boolean {
  if (Number(Atomics.load(words, row + sharedPlace.refusedUntil)) <= now) return false
  return Number(Atomics.load(words, row + sharedPlace.room)) < missing
}

/** Resolves when the cluster thread has news for the row, or after the time; `ask` is called once waiting has begun. */
export async function nextAnswer(words: BigInt64Array, row: number, ms: number, ask: () => void): Promise<void> {
  const at = row + sharedPlace.answers
  const waiting = Atomics.waitAsync(words, at, Atomics.load(words, at), ms)
  ask()
  await waiting.value
}

/** The bucket number for a moment that may be in either of two, and for requests at once. */
const none = 0

/** Counting on a node of a cluster: an epoch is a bucket of the cluster's clock. */
export function sharedCounting(clock: BucketClock): MinuteCounting {
  /** What is available here, and, unless this node cannot be granted anything, what the others last left. */
  const leftOf = (words: BigInt64Array, row: number): number => {
    const here = Number(Atomics.load(words, row + sharedPlace.free) & amountMask)
    return clock.apart === null ? here + Number(Atomics.load(words, row + sharedPlace.room)) : here
  }
  /** The use of all nodes, as far as it is known. */
  const usedOf = (words: BigInt64Array, row: number): number =>
    Math.max(0, Number(Atomics.load(words, row + sharedPlace.limit)) - leftOf(words, row))
  const window: LimitWindow = {
    size: sharedSize,

    take({ words }, row, amount, limit, epoch) {
      noteLimit(words, row, limit)
      const missing = epoch === none ? amount : take(words, row, amount, epoch)
      const left = Math.min(limit, leftOf(words, row))
      return missing === 0 ? left : -Math.max(1, amount - left)
    },

    correct({ words }, row, booked, actual, epoch) {
      const more = actual - booked.amount
      if (more < 0 && putBack(words, row, -more, booked.epoch)) return
      if (more !== 0) correctAt(words, row, more, more < 0 || epoch === none ? booked.epoch : epoch)
    },

    used: ({ words }, row) => usedOf(words, row),

    /** If it is not known when there will be room, the next bucket may have some. */
    wait({ words }, row, _missing, now) {
      const freesIn = Number(Atomics.load(words, row + sharedPlace.freesAt)) - now
      return Math.max(250, freesIn > 0 ? freesIn : clock.untilNext(now))
    },
  }
  return {
    isShared: true,
    apart: () => clock.apart,
    windowOf: () => window,
    epochAt: (now) => clock.bucketAt(now) ?? none,
    livesFor: (epoch, now) => clock.livesFor(epoch, now),
    slotSize: sharedSize,
    takeSlot(words, row, limit) {
      noteLimit(words, row, limit)
      const isTaken = limit > 0 && take(words, row, 1, none) === 0
      const used = Math.max(0, limit - leftOf(words, row))
      return { isTaken, used: isTaken ? used - 1 : used }
    },
    releaseSlots(words, row, amount) {
      putBack(words, row, Number(amount), none)
    },
    usedSlots: usedOf,
  }
}

/** A limit may change at any time; the cluster thread reads it from here. */
function noteLimit(words: BigInt64Array, row: number, limit: number): void {
  if (Number(Atomics.load(words, row + sharedPlace.limit)) !== limit)
    Atomics.store(words, row + sharedPlace.limit, BigInt(limit))
}

function correctAt(words: BigInt64Array, row: number, more: number, bucket: number): void {
  const at = row + firstCorrection + (bucket % corrections)
  for (;;) {
    const found = Atomics.load(words, at)
    const tag = found >> amountBits
    const next = tag === tagOf(bucket) ? found + BigInt(more) : pack(tagOf(bucket), zero + BigInt(more))
    // A later bucket is in this place: the corrected one has left the window.
    if (tag !== tagOf(bucket) && ((tag - tagOf(bucket)) & tagMask) < tagMask / 2n && found !== 0n) return
    if (Atomics.compareExchange(words, at, found, next) === found) return
  }
}
