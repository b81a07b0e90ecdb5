const failuresInARow = 5
const bucketCount = 6
const bucketMs = 5000
const windowLeast = 20
const firstOpenMs = 5000
const longestOpenMs = 300_000
/** After this a probe no longer keeps others from probing, whatever became of it. */
const probeLeaseMs = 60_000

/** Words that a breaker takes in its row; all but the buckets stand before them. */
export const breakerWords = 10 + bucketCount
const word = {
  state: 0,
  openings: 1,
  inARow: 2,
  prober: 3,
  since: 4,
  cause: 5,
  /** Whose calls failed since the last success. */
  streakCaller: 6,
  lastCaller: 7,
  mixedAt: 8,
  /** When the last trouble ended. */
  recoveredAt: 9,
  buckets: 10,
} as const

/**
 * How a call got in. It is handed back with the call's outcome: only the outcome of a probe or a trial moves an open breaker. A
 * `trial` is let in beside the probe and keeps nobody from probing: its client may never finish sending it.
 */
export type BreakerEntry = 'pass' | 'probe' | 'trial'

/** What stands in the state word. `until` is when an open breaker may be probed, or a probe's lease ends. */
export interface BreakerState {
  phase: 'closed' | 'open' | 'half-open' | 'probing'
  until: number
}

/** How long a call has failed every time, and of what: a status, or a `failureCause`. */
export interface Trouble {
  since: number
  cause: number
  inARow: number
}

const closed: BreakerState = Object.freeze({ phase: 'closed', until: 0 })

/** In place of a single caller: failures came from several. */
export const severalCallers = -1n

/** Rows of so many words, a breaker in each from the offset on. */
export interface BreakerPlace {
  rowWords: number
  offset: number
  rows: number
}

/**
 * A breaker a row, shared by all threads. Its state is one word, so that every change is one compare-and-exchange and
 * no thread ever sees half a change: 0 is closed, else twice the time until which it is open, plus one while a probe
 * is in progress.
 *
 * It opens after 5 failures in a row, or when at least half of at least 20 calls of the last 30 s failed, if these
 * failures came from several callers; for 5 s, doubled with each failed probe up to 5 min. Times are epoch milliseconds of a clock that all threads share; when it
 * steps back, no wait becomes longer than the longest.
 */
export class Breaker {
  readonly #words: BigInt64Array
  readonly #rowWords: number
  readonly #offset: number
  readonly #rows: number
  /** 0 stands for nobody. */
  readonly #self: bigint

  /** `thread` is the caller's own: what it probes when it dies is given up for it. */
  constructor(words: BigInt64Array, { rowWords, offset, rows }: BreakerPlace, thread: number | null) {
    this.#words = words
    this.#rowWords = rowWords
    this.#offset = offset
    this.#rows = rows
    this.#self = proberOf(thread)
  }

  state(row: number, now: number): BreakerState {
    return decode(this.#load(row, word.state), now)
  }

  /** Null: every call succeeded lately, or too few have failed. */
  trouble(row: number): Trouble | null {
    const inARow = Number(this.#load(row, word.inARow))
    if (inARow < failuresInARow && this.#load(row, word.state) === 0n) return null
    return { since: Number(this.#load(row, word.since)), cause: Number(this.#load(row, word.cause)), inARow }
  }

  /** When the last trouble ended; 0: there was none. */
  recoveredAt(row: number): number {
    return Number(this.#load(row, word.recoveredAt))
  }

  /** Null: not now. A probe is granted to exactly one caller of all threads. */
  enter(row: number, now: number, mayProbe = true): BreakerEntry | null {
    const found = this.#load(row, word.state)
    if (found === 0n) return 'pass'
    if (decode(found, now).phase !== 'half-open') return null
    if (!mayProbe) return 'trial'
    if (!this.#exchange(row, found, probing(now + probeLeaseMs))) return null
    this.#store(row, word.prober, this.#self)
    return 'probe'
  }

  recordSuccess(row: number, entry: BreakerEntry, now: number): void {
    if (entry === 'probe' || (entry === 'trial' && this.#isHalfOpen(row, now))) this.close(row, now)
    if (this.#load(row, word.state) !== 0n) return
    const inARow = this.#load(row, word.inARow)
    if (inARow >= failuresInARow) this.#store(row, word.recoveredAt, BigInt(Math.floor(now)))
    if (inARow !== 0n) for (const column of [word.inARow, word.streakCaller, word.since]) this.#store(row, column, 0n)
    this.#count(row, now, oneSuccess)
  }

  /** True: it opens. `caller` of a single one whose failures do not open it by themselves; null: they do. */
  recordFailure(row: number, entry: BreakerEntry, now: number, caller: bigint | null = null, cause = 0): boolean {
    const found = this.#load(row, word.state)
    this.#store(row, word.cause, BigInt(cause))
    if (found !== 0n) {
      // Stragglers that were sent before the breaker opened say nothing new.
      const moves = entry === 'probe' ? isProbing(found) : entry === 'trial' && this.#isHalfOpen(row, now)
      return moves && this.#open(row, found, now)
    }
    const inARow = Atomics.add(this.#words, this.#at(row, word.inARow), 1n) + 1n
    if (inARow === 1n) this.#store(row, word.since, BigInt(Math.floor(now)))
    this.#count(row, now, oneFailure)
    const streak = this.#remember(row, now, caller)
    const opens = inARow >= failuresInARow && streak === severalCallers
    const mixed = this.#load(row, word.mixedAt) > BigInt(Math.floor(now - bucketCount * bucketMs))
    return (opens || (mixed && this.#windowIsBad(row, now))) && this.#open(row, found, now)
  }

  /** For all callers, whatever was counted; one that is not closed stays as it is. */
  open(row: number, now: number, cause: number): void {
    if (this.#load(row, word.state) !== 0n) return
    this.#store(row, word.cause, BigInt(cause))
    if (this.#load(row, word.since) === 0n) this.#store(row, word.since, BigInt(Math.floor(now)))
    this.#open(row, 0n, now)
  }

  /** The probe ended without saying anything: the next request may probe. */
  abandon(row: number, entry: BreakerEntry): void {
    const found = this.#load(row, word.state)
    if (entry === 'probe' && isProbing(found)) this.#exchange(row, found, open(1))
  }

  /** Of a thread that is dead. One that died in the middle of taking a probe keeps it for the lease. */
  abandonAll(thread: number): void {
    for (let row = 0; row < this.#rows; row++)
      if (this.#load(row, word.prober) === proberOf(thread)) this.abandon(row, 'probe')
  }

  /** `now` 0: nothing has recovered, the row begins anew. */
  close(row: number, now = 0): void {
    // The counts first: nobody counts while the state is not 0.
    for (let column: number = word.openings; column < breakerWords; column++) this.#store(row, column, 0n)
    this.#store(row, word.recoveredAt, BigInt(Math.floor(now)))
    this.#store(row, word.state, 0n)
  }

  #isHalfOpen(row: number, now: number): boolean {
    return decode(this.#load(row, word.state), now).phase === 'half-open'
  }

  /** Whose failures there were since the last success. */
  #remember(row: number, now: number, caller: bigint | null): bigint {
    const own = caller ?? severalCallers
    const before = this.#load(row, word.lastCaller)
    if (own === severalCallers || (before !== 0n && before !== own))
      this.#store(row, word.mixedAt, BigInt(Math.floor(now)))
    this.#store(row, word.lastCaller, own)
    const place = this.#at(row, word.streakCaller)
    const streak = Atomics.compareExchange(this.#words, place, 0n, own)
    if (streak === 0n || streak === own) return own
    Atomics.store(this.#words, place, severalCallers)
    return severalCallers
  }

  /** False: another thread was first. */
  #open(row: number, found: bigint, now: number): boolean {
    const openings = this.#load(row, word.openings)
    const duration = Math.min(longestOpenMs, firstOpenMs * 2 ** Number(openings))
    if (!this.#exchange(row, found, open(now + duration))) return false
    this.#store(row, word.openings, openings + 1n)
    return true
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
    return this.#offset + row * this.#rowWords + column
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
