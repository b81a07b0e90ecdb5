import { RowTable, rowId } from './row-table.ts'

/** Routes whose times are known at once. */
const routes = 1024
/** Buckets of times grow by a quarter of an octave, from a millisecond to ten minutes. */
const perOctave = 4
const buckets = 20 * perOctave
const histogramWords = 1 + buckets
/** The route's id; requests and hedges; then times of streamed calls and of whole ones. */
const rowWords = 2 + 2 * histogramWords
/** What is older weighs half as much for every so many. */
const mostCounted = 4096n
/** Of fewer times nobody can say which is unusual. */
const leastTimes = 20
const tail = 0.05
const hedgeBits = 32n

export function createHedgingMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(routes * rowWords * BigInt64Array.BYTES_PER_ELEMENT)
}

/** How long the calls of a route take until their answer begins, and how many of them were sent twice; for all threads. */
export class RouteTimes {
  readonly #words: BigInt64Array
  /** -1: every row is taken, and nothing is known of the route. */
  readonly #row: number

  constructor(words: BigInt64Array, routeId: string) {
    this.#words = words
    this.#row = new RowTable(words, { rowWords, offset: 0, rows: routes }).claim(rowId(0, routeId))
  }

  /** One more request, which may be sent twice or not. */
  count(): void {
    this.#changeCounts((requests, hedges) =>
      requests >= mostCounted ? [requests / 2n + 1n, hedges / 2n] : [requests + 1n, hedges],
    )
  }

  /** Whether one more may be sent twice, if at most `share` percent may; then it counts. */
  take(share: number): boolean {
    return this.#changeCounts((requests, hedges) =>
      (hedges + 1n) * 100n > requests * BigInt(share) ? null : [requests, hedges + 1n],
    )
  }

  /** It was not sent twice after all. */
  release(): void {
    this.#changeCounts((requests, hedges) => (hedges === 0n ? null : [requests, hedges - 1n]))
  }

  record(streamed: boolean, ms: number): void {
    if (this.#row < 0) return
    const start = this.#histogram(streamed)
    Atomics.add(this.#words, start + 1 + bucketOf(ms), 1n)
    if (Atomics.add(this.#words, start, 1n) + 1n >= mostCounted) this.#halve(start)
  }

  /** What 95 of 100 calls stay below; null: too few have been seen. */
  p95(streamed: boolean): number | null {
    if (this.#row < 0) return null
    const start = this.#histogram(streamed)
    const counts = Array.from({ length: buckets }, (_, bucket) => Number(Atomics.load(this.#words, start + 1 + bucket)))
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total < leastTimes) return null
    let above = total * tail
    for (let bucket = buckets - 1; bucket >= 0; bucket--) {
      const count = counts[bucket] ?? 0
      if (count > above) return Math.ceil(msAt(bucket + 1 - above / count))
      above -= count
    }
    return null
  }

  /** Two threads that do so at once halve twice, which costs only precision. */
  #halve(start: number): void {
    let total = 0n
    for (let bucket = 1; bucket <= buckets; bucket++) {
      const half = Atomics.load(this.#words, start + bucket) / 2n
      Atomics.store(this.#words, start + bucket, half)
      total += half
    }
    Atomics.store(this.#words, start, total)
  }

  /** False: `change` wants none. */
  #changeCounts(change: (requests: bigint, hedges: bigint) => [requests: bigint, hedges: bigint] | null): boolean {
    if (this.#row < 0) return false
    const place = this.#row * rowWords + 1
    for (;;) {
      const found = Atomics.load(this.#words, place)
      const next = change(found >> hedgeBits, found & ((1n << hedgeBits) - 1n))
      if (next === null) return false
      const [requests, hedges] = next
      if (Atomics.compareExchange(this.#words, place, found, (requests << hedgeBits) | hedges) === found) return true
    }
  }

  #histogram(streamed: boolean): number {
    return this.#row * rowWords + 2 + (streamed ? 0 : histogramWords)
  }
}

function bucketOf(ms: number): number {
  return Math.min(buckets - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, ms)) * perOctave)))
}

function msAt(bucket: number): number {
  return 2 ** (bucket / perOctave)
}
