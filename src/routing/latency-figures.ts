import type { HealthTarget, TargetTable } from './target-table.ts'

/** Words of a target's row: one for streamed calls (to the first byte), one for whole ones (to the end). */
export const latencyWords = 2
/** Both stand in one word, so that no thread ever sees one without the other. */
const msBits = 21n
const msMask = (1n << msBits) - 1n
/** What was measured so long ago has lost two thirds of its weight. */
const decayMs = 10_000

export interface LatencyFigure {
  ms: number
  /** When it was measured last, in epoch milliseconds. */
  at: number
}

/**
 * How long targets take, as all threads together have measured it: a peak EWMA. A call that took longer than the figure raises it
 * at once, faster ones bring it down with the time that passes. Streamed and whole calls are kept apart.
 */
export class LatencyFigures {
  readonly #words: BigInt64Array
  readonly #table: TargetTable
  readonly #placeOf: (row: number) => number

  constructor(words: BigInt64Array, table: TargetTable, placeOf: (row: number) => number) {
    this.#words = words
    this.#table = table
    this.#placeOf = placeOf
  }

  /** null: nothing has been measured yet. */
  find(target: HealthTarget, streamed: boolean): LatencyFigure | null {
    const row = this.#table.find(target)
    const found = row < 0 ? 0n : Atomics.load(this.#words, this.#at(row, streamed))
    return found === 0n ? null : decode(found)
  }

  /** Of a call that failed: its time limit. */
  record(target: HealthTarget, streamed: boolean, ms: number, now: number): void {
    const row = this.#table.claim(target)
    if (row < 0) return
    const place = this.#at(row, streamed)
    for (;;) {
      const found = Atomics.load(this.#words, place)
      const next = encode(found === 0n ? ms : blend(decode(found), ms, now), now)
      if (Atomics.compareExchange(this.#words, place, found, next) === found) return
    }
  }

  clear(row: number): void {
    for (const streamed of [true, false]) Atomics.store(this.#words, this.#at(row, streamed), 0n)
  }

  #at(row: number, streamed: boolean): number {
    return this.#placeOf(row) + (streamed ? 0 : 1)
  }
}

function blend({ ms: before, at }: LatencyFigure, ms: number, now: number): number {
  if (ms >= before) return ms
  return ms + (before - ms) * Math.exp(-Math.max(0, now - at) / decayMs)
}

/** At least a millisecond, so that a figure is never 0, which stands for none. */
function encode(ms: number, now: number): bigint {
  const whole = Math.min(Math.max(1, Math.round(ms)), Number(msMask))
  return (BigInt(Math.floor(now)) << msBits) | BigInt(whole)
}

function decode(word: bigint): LatencyFigure {
  return { ms: Number(word & msMask), at: Number(word >> msBits) }
}
