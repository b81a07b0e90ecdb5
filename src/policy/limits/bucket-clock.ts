/** Buckets of the cluster's clock. Nodes are granted their shares of limits per minute for one bucket at a time. */
const bucketMs = 10_000
/** For how many buckets a grant counts. */
const counted = 7
/** Words: a sequence number, odd during a change; the bucket; the times between which that bucket is certain; and `Apart`. */
const words = 5
/** If a thread is terminated while it writes, the sequence number stays odd: readers then get no bucket. */
const mostReads = 100

/**
 * Why this node can be granted nothing now: it does not reach the others (`closed`: and may let nothing pass before it does), or they
 * have not all said yet what they use. Null: what it is refused is used up.
 */
export type Apart = 'cut off' | 'opening' | 'closed' | null
const aparts: readonly Apart[] = [null, 'cut off', 'opening', 'closed']

interface ClockReading {
  bucket: number
  from: number
  until: number
  apart: Apart
}

const unknown: ClockReading = { bucket: 0, from: 0, until: 0, apart: null }

/** Where the cluster thread publishes the present bucket, in microseconds of a clock that all threads share. */
export class BucketClock {
  readonly #words: BigInt64Array
  /** The sequence number of the last reading. */
  #seen = 0n
  #reading = unknown

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(words * BigInt64Array.BYTES_PER_ELEMENT)
  }

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  /** The bucket at that time; null: it may be one or the next, or nothing has been published. */
  bucketAt(now: number): number | null {
    const { bucket, from, until } = this.#read()
    return now >= from && now < until ? bucket : null
  }

  /** Milliseconds until the next bucket begins. */
  untilNext(now: number): number {
    const { until } = this.#read()
    return Math.min(bucketMs, Math.max(0, until - now))
  }

  /** Milliseconds until use in that bucket no longer counts. An upper bound if the present bucket is unknown. */
  livesFor(bucket: number, now: number): number {
    const present = this.#read()
    const left = present.until + (bucket - present.bucket + counted - 1) * bucketMs - now
    return Math.min(counted * bucketMs, Math.max(0, left))
  }

  get apart(): Apart {
    return this.#read().apart
  }

  /** Only called by the cluster thread. */
  publish(bucket: number, from: number, until: number, apart: Apart = null): void {
    // Odd from here on, even if an earlier writer was terminated halfway.
    Atomics.or(this.#words, 0, 1n)
    Atomics.store(this.#words, 1, BigInt(bucket))
    Atomics.store(this.#words, 2, BigInt(Math.ceil(from * 1000)))
    Atomics.store(this.#words, 3, BigInt(Math.floor(until * 1000)))
    Atomics.store(this.#words, 4, BigInt(aparts.indexOf(apart)))
    Atomics.add(this.#words, 0, 1n)
  }

  /** Cached: it is published a few times a second, and read several times for each request. */
  #read(): ClockReading {
    for (let read = 0; read < mostReads; read++) {
      const before = Atomics.load(this.#words, 0)
      if (before === this.#seen) return this.#reading
      const apart = aparts[this.#at(4)] ?? null
      const reading = { bucket: this.#at(1), from: this.#at(2) / 1000, until: this.#at(3) / 1000, apart }
      if (before % 2n !== 0n || Atomics.load(this.#words, 0) !== before) continue
      this.#seen = before
      this.#reading = reading
      return reading
    }
    return unknown
  }

  #at(place: number): number {
    return Number(Atomics.load(this.#words, place))
  }
}

/** Milliseconds of a monotonic clock that is the same in all threads of the process. */
export function sharedTime(): () => number {
  const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()
  return () => performance.now() + offset
}
