import type { BreakerPlace } from './breaker.ts'

/** How far from its own place a row may lie. */
const reach = 256

/** Never 0, which stands for nothing. Text that clients choose gets a row only after a success, so collisions cannot be made cheaply. */
export function rowId(seed: number, text: string): bigint {
  let one = 0xdeadbeef ^ seed
  let other = 0x41c6ce57 ^ seed
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    one = Math.imul(one ^ code, 2654435761)
    other = Math.imul(other ^ code, 1597334677)
  }
  const mixed = mix(one)
  other = mix(other ^ mixed)
  return (BigInt((other >>> 2) + 1) << 32n) | BigInt(mixed)
}

/** Every bit of what comes out depends on every bit of what goes in (MurmurHash3's last step). */
function mix(bits: number): number {
  let mixed = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/**
 * Rows of shared memory that are found by an id, without a lock: the first word of a row is its id, which whoever needs the row
 * writes by one compare-and-exchange. A row keeps its id until it is taken for another.
 */
export class RowTable {
  readonly #words: BigInt64Array
  readonly #place: BreakerPlace

  constructor(words: BigInt64Array, place: BreakerPlace) {
    this.#words = words
    this.#place = place
  }

  /** -1: there is none. */
  find(id: bigint): number {
    for (let step = 0; step < Math.min(reach, this.#place.rows); step++) {
      const row = this.#candidate(id, step)
      const found = this.idOf(row)
      if (found === id) return row
      if (found === 0n) return -1
    }
    return -1
  }

  /** The row of the id, taken where there is none yet; -1 where all are taken. */
  claim(id: bigint): number {
    for (let step = 0; step < Math.min(reach, this.#place.rows); step++) {
      const row = this.#candidate(id, step)
      const found = Atomics.compareExchange(this.#words, this.#at(row), 0n, id)
      if (found === 0n || found === id) return row
    }
    return -1
  }

  /** Takes the row of another where none is free: the one whose `age` word is lowest. */
  claimOldest(id: bigint, ageOf: (row: number) => bigint): { row: number; replaced: boolean } {
    const own = this.claim(id)
    if (own >= 0) return { row: own, replaced: false }
    let oldest = this.#candidate(id, 0)
    for (let step = 1; step < Math.min(reach, this.#place.rows); step++) {
      const row = this.#candidate(id, step)
      if (ageOf(row) < ageOf(oldest)) oldest = row
    }
    Atomics.store(this.#words, this.#at(oldest), id)
    return { row: oldest, replaced: true }
  }

  idOf(row: number): bigint {
    return Atomics.load(this.#words, this.#at(row))
  }

  #candidate(id: bigint, step: number): number {
    return (Number(id & 0xffff_ffffn) + step) % this.#place.rows
  }

  #at(row: number): number {
    return this.#place.offset + row * this.#place.rowWords
  }
}
