const failuresInARow = 5
const bucketCount = 6
const bucketMs = 5000
const windowLeast = 20
const firstOpenMs = 5000
const longestOpenMs = 300_000
/** After this a probe no longer keeps others from probing, whatever became of it. */
const probeLeaseMs = 60_000

/** Words that a breaker takes in its row. */
export const breakerWords = 4 + bucketCount
const word = { state: 0, openings: 1, inARow: 2, prober: 3, buckets: 4 } as const

/** How a call got in. It is handed back with the call's outcome: only a probe's outcome moves an open breaker. */
export type Entry = 'pass' | 'probe'

/** What stands in the state word. `until` is when an open breaker may be probed, or a probe's lease ends. */
export interface BreakerState {
  phase: 'closed' | 'open' | 'half-open' | 'probing'
  until: number
}

const closed: BreakerState = Object.freeze({ phase: 'closed', until: 0 })

/**
 * A breaker a row, shared by all threads. Its state is one word, so that every change is one compare-and-exchange and
 * no thread ever sees half a change: 0 is closed, else twice the time until which it is open, plus one while a probe
 * is in progress.
 *
 * It opens after 5 failures in a row, or when at least half of at least 20 calls of the last 30 s failed; for 5 s,
 * doubled with each failed probe up to 5 min. Times are epoch milliseconds of a clock that all threads share; when it
 * steps back, no wait becomes longer than the longest.
 */
export class Breaker {
  readonly #words: BigInt64Array
  readonly #rowWords: number
  /** 0 stands for nobody. */
  readonly #self: bigint

  /** `thread` is the caller's own: what it probes when it dies is given up for it. */
  constructor(words: BigInt64Array, rowWords: number, thread: number | null) {
    this.#words = words
    this.#rowWords = rowWords
    this.#self = proberOf(thread)
  }

  state(row: number, now: number): BreakerState {
    return decode(this.#load(row, word.state), now)
  }

  /** Null: not now. A probe is granted to exactly one caller of all threads. */
  enter(row: number, now: number): Entry | null {
    const found = this.#load(row, word.state)
    const { phase } = decode(found, now)
    if (phase === 'closed') return 'pass'
    if (phase !== 'half-open') return null
    if (!this.#exchange(row, found, probing(now + probeLeaseMs))) return null
    this.#store(row, word.prober, this.#self)
    return 'probe'
  }

  recordSuccess(row: number, entry: Entry, now: number): void {
    if (entry === 'probe') this.close(row)
    if (this.#load(row, word.state) !== 0n) return
    if (this.#load(row, word.inARow) !== 0n) this.#store(row, word.inARow, 0n)
    this.#count(row, now, oneSuccess)
  }

  recordFailure(row: number, entry: Entry, now: number): void {
    const found = this.#load(row, word.state)
    if (found !== 0n) {
      // Stragglers that were sent before the breaker opened say nothing new.
      if (entry === 'probe' && isProbing(found)) this.#open(row, found, now)
      return
    }
    const inARow = Atomics.add(this.#words, this.#at(row, word.inARow), 1n) + 1n
    this.#count(row, now, oneFailure)
    if (inARow >= failuresInARow || this.#windowIsBad(row, now)) this.#open(row, found, now)
  }

  /** The probe ended without saying anything: the next request may probe. */
  abandon(row: number, entry: Entry): void {
    const found = this.#load(row, word.state)
    if (entry === 'probe' && isProbing(found)) this.#exchange(row, found, open(1))
  }

  /** Of a thread that is dead. One that died in the middle of taking a probe keeps it for the lease. */
  abandonAll(thread: number): void {
    for (let row = 0; (row + 1) * this.#rowWords <= this.#words.length; row++)
      if (this.#load(row, word.prober) === proberOf(thread)) this.abandon(row, 'probe')
  }

  close(row: number): void {
    // The counts first: nobody counts while the state is not 0.
    for (let column: number = word.openings; column < breakerWords; column++) this.#store(row, column, 0n)
    this.#store(row, word.state, 0n)
  }

  #open(row: number, found: bigint, now: number): void {
    const openings = this.#load(row, word.openings)
    const duration = Math.min(longestOpenMs, firstOpenMs * 2 ** Number(openings))
    if (this.#exchange(row, found, open(now + duration))) this.#store(row, word.openings, openings + 1n)
  }

  /** A bucket is one word too (epoch, successes, failures), so that starting it anew loses no other thread's count. */
  #count(row: number, now: number, one: bigint): void {
    const epoch = Math.floor(now / bucketMs)
    const index = this.#at(row, word.buckets + (epoch % bucketCount))
    const fresh = bucketOf(epoch)
    for (;;) {
      const found = Atomics.load(this.#words, index)
      const counted = (found >> 40n === fresh >> 40n ? found : fresh) + one
      if (Atomics.compareExchange(this.#words, index, found, counted) === found) return
    }
  }

  #windowIsBad(row: number, now: number): boolean {
    const epoch = Math.floor(now / bucketMs)
    let successes = 0
    let failures = 0
    for (let age = 0; age < bucketCount; age++) {
      const bucket = this.#load(row, word.buckets + ((epoch - age) % bucketCount))
      if (bucket >> 40n !== bucketOf(epoch - age) >> 40n) continue
      successes += Number((bucket >> 20n) & countMask)
      failures += Number(bucket & countMask)
    }
    return successes + failures >= windowLeast && failures >= successes
  }

  #at(row: number, column: number): number {
    return row * this.#rowWords + column
  }

  #load(row: number, column: number): bigint {
    return Atomics.load(this.#words, this.#at(row, column))
  }

  #store(row: number, column: number, value: bigint): void {
    Atomics.store(this.#words, this.#at(row, column), value)
  }

  #exchange(row: number, found: bigint, next: bigint): boolean {
    return Atomics.compareExchange(this.#words, this.#at(row, word.state), found, next) === found
  }
}

const countMask = (1n << 20n) - 1n
const oneFailure = 1n
const oneSuccess = 1n << 20n

/** Twenty bits a count: 5 s of 200,000 calls a second. */
function bucketOf(epoch: number): bigint {
  return BigInt(epoch % 2 ** 22) << 40n
}

function open(until: number): bigint {
  return BigInt(Math.floor(until)) << 1n
}

function probing(until: number): bigint {
  return open(until) | 1n
}

function proberOf(thread: number | null): bigint {
  return thread === null ? 0n : BigInt(thread) + 1n
}

function isProbing(state: bigint): boolean {
  return (state & 1n) === 1n
}

function decode(state: bigint, now: number): BreakerState {
  if (state === 0n) return closed
  const until = Number(state >> 1n)
  const longest = isProbing(state) ? probeLeaseMs : longestOpenMs
  if (until <= now || until > now + longest) return { phase: 'half-open', until }
  return { phase: isProbing(state) ? 'probing' : 'open', until }
}
