/** Buckets of the cluster's clock, in which nodes are granted their parts of limits a minute. */
const bucketMs = 10_000
/** A bucket counts for so many. */
const counted = 7
/** Words: a count of changes, odd while they are made, then the bucket, between which times it lies for certain, and `Apart`. */
const words = 5
/** A thread that is stopped while it writes leaves an odd count: whoever reads then knows no bucket. */
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

/** Where the cluster thread tells in which bucket requests are: in microseconds of a clock that all threads share. */
export class BucketClock {
  readonly #words: BigInt64Array
  /** The count of changes at which it was read last. */
  #seen = 0n
  #reading = unknown

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(words * BigInt64Array.BYTES_PER_ELEMENT)
  }

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  /** The bucket at that time; null: it may be one or the next, or nothing was published. */
  bucketAt(now: number): number | null {
    const { bucket, from, until } = this.#read()
    return now >= from && now < until ? bucket : null
  }

  /** Milliseconds until the next bucket begins. */
  untilNext(now: number): number {
    const { until } = this.#read()
    return Math.min(bucketMs, Math.max(0, until - now))
  }

  /** Milliseconds until what was used in that bucket no longer counts; at most that, where the present one is not known. */
  livesFor(bucket: number, now: number): number {
    const present = this.#read()
    const left = present.until + (bucket - present.bucket + counted - 1) * bucketMs - now
    return Math.min(counted * bucketMs, Math.max(0, left))
  }

  get apart(): Apart {
    return this.#read().apart
  }

  /** Only the cluster thread. */
  publish(bucket: number, from: number, until: number, apart: Apart = null): void {
    // Odd from here on, also behind a thread that was stopped while it wrote.
    Atomics.or(this.#words, 0, 1n)
    Atomics.store(this.#words, 1, BigInt(bucket))
    Atomics.store(this.#words, 2, BigInt(Math.ceil(from * 1000)))
    Atomics.store(this.#words, 3, BigInt(Math.floor(until * 1000)))
    Atomics.store(this.#words, 4, BigInt(aparts.indexOf(apart)))
    Atomics.add(this.#words, 0, 1n)
  }

  /** Published some times a second, and read several times a request. */
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

/** Milliseconds of a clock that is the same in all threads of the process, and that nobody sets. */
export function sharedTime(): () => number {
  const offset = Number(process.hrtime.bigint()) / 1e6 - performance.now()
  return () => performance.now() + offset
}
