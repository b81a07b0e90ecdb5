import { rowHead } from './limit-memory.ts'
import { buckets, epochAt, type LimitWindow, livesFor } from './window.ts'

/**
 * The window of a limit on requests in cells of 32 bits, half the size of one for tokens (`window.ts`): 100,000 keys have one each. A
 * bucket contains the lower 12 bits of its number, and a count of up to a million requests in two seconds, more than any gateway serves.
 */

const amountBits = 20
const amountMask = (1 << amountBits) - 1
const epochMask = (1 << (32 - amountBits)) - 1
/** Cells after a row's head, which has 64-bit words: the total, the bucket up to which old ones were cleared, the buckets. */
const head = rowHead * 2
const swept = 1
const first = 2
/** Tells old buckets from future ones: a thread may continue with a time that has passed in the meantime. */
const oldest = epochMask >> 1
/** Beyond this, the age of a row's buckets is ambiguous. */
const tellable = oldest - buckets

const amountOf = (cell: number): number => cell & amountMask
/** How many buckets ago it was filled. */
const ageOf = (cell: number, epoch: number): number => (epoch - (cell >>> amountBits)) & epochMask
const pack = (epoch: number, amount: number): number => ((epoch & epochMask) << amountBits) | amount
const placeOf = (row: number): number => row * 2 + head

export const requestWindow: LimitWindow = {
  size: (first + buckets + 1) >> 1,

  take({ cells }, row, amount, limit, epoch) {
    const start = placeOf(row)
    sweep(cells, start, epoch)
    for (;;) {
      const found = Atomics.load(cells, start)
      const left = limit - found - amount
      if (left < 0) return left
      if (Atomics.compareExchange(cells, start, found, found + amount) !== found) continue
      fill(cells, start, amount, epoch)
      return left
    }
  },

  /** Never books more: each request is booked when it arrives. */
  correct({ cells }, row, booked, actual) {
    unbook(cells, placeOf(row), booked.amount - actual, booked.epoch)
  },

  used({ cells }, row, epoch) {
    const start = placeOf(row)
    sweep(cells, start, epoch)
    return Atomics.load(cells, start)
  },

  wait({ cells }, row, missing, now) {
    const epoch = epochAt(now)
    let leaving = 0
    for (let at = epoch - buckets + 1; at <= epoch; at++) {
      const cell = Atomics.load(cells, placeOf(row) + first + (at % buckets))
      if (ageOf(cell, at) === 0) leaving += amountOf(cell)
      if (leaving >= missing) return livesFor(at, now)
    }
    return livesFor(epoch, now)
  },
}

function sweep(cells: Int32Array, start: number, epoch: number): void {
  const before = Atomics.load(cells, start + swept)
  if (before >= epoch) return
  if (epoch - before > tellable) return sweepRested(cells, start, before, epoch)
  for (let place = start + first; place < start + first + buckets; place++) {
    const cell = Atomics.load(cells, place)
    const age = ageOf(cell, epoch)
    if (amountOf(cell) === 0 || age < buckets || age > oldest) continue
    if (Atomics.compareExchange(cells, place, cell, 0) === cell) Atomics.sub(cells, start, amountOf(cell))
  }
  // Another thread may have advanced it already.
  Atomics.compareExchange(cells, start + swept, before, epoch)
}

/** Clears a row that was unused for long. Until one thread has announced that, none books: what it saw before is old. */
function sweepRested(cells: Int32Array, start: number, before: number, epoch: number): void {
  const seen = Array.from({ length: buckets }, (_, index) => Atomics.load(cells, start + first + index))
  if (Atomics.compareExchange(cells, start + swept, before, epoch) !== before) return
  for (const [index, old] of seen.entries()) if (amountOf(old) > 0) takeOut(cells, start, start + first + index, old)
}

/** Unless another thread has put its own bucket there. */
function takeOut(cells: Int32Array, start: number, place: number, old: number): void {
  for (;;) {
    const cell = Atomics.load(cells, place)
    if (cell >>> amountBits !== old >>> amountBits) return
    if (Atomics.compareExchange(cells, place, cell, cell - amountOf(old)) !== cell) continue
    Atomics.sub(cells, start, amountOf(old))
    return
  }
}

function fill(cells: Int32Array, start: number, amount: number, epoch: number): void {
  const place = start + first + (epoch % buckets)
  for (;;) {
    const cell = Atomics.load(cells, place)
    const age = ageOf(cell, epoch)
    // Another thread may already have filled it for a later round.
    const isOther = age > 0 && age <= oldest
    const next = isOther || amountOf(cell) === 0 ? pack(epoch, amount) : cell + amount
    if (Atomics.compareExchange(cells, place, cell, next) !== cell) continue
    if (isOther) Atomics.sub(cells, start, amountOf(cell))
    return
  }
}

function unbook(cells: Int32Array, start: number, amount: number, epoch: number): void {
  const place = start + first + (epoch % buckets)
  for (;;) {
    const cell = Atomics.load(cells, place)
    if (ageOf(cell, epoch) !== 0) return
    const given = Math.min(amountOf(cell), amount)
    if (Atomics.compareExchange(cells, place, cell, cell - given) !== cell) continue
    Atomics.sub(cells, start, given)
    return
  }
}
