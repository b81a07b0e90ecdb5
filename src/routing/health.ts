import { Breaker, breakerWords, type Entry } from './breaker.ts'
import { CredentialPool, poolWords } from './credential-pool.ts'

export type { Entry } from './breaker.ts'
export { poolLimit } from './credential-pool.ts'

const failingSince = breakerWords + poolWords
const rowWords = failingSince + 1

export type HealthView =
  | { state: 'ready' }
  /** The breaker has been open long enough: one request may probe. */
  | { state: 'half-open' }
  /** Another request is probing. */
  | { state: 'probing'; until: number }
  | { state: 'open'; until: number }
  /** Every credential of the pool is cooling down. */
  | { state: 'cooling-down'; until: number }
  /** Every credential was rejected; only `markReady` ends it. */
  | { state: 'failing'; since: number }

/**
 * What all threads together know about each provider, by its slot. Times are epoch milliseconds (`Date.now()`): one clock
 * for all threads. A slot beyond the memory throws a `RangeError`.
 */
export interface Health {
  /** What a request would meet now; changes nothing. `credentials` is the size of the pool, 0 for a provider without. */
  view(slot: number, now: number, credentials?: number): HealthView
  /** Called just before a call is sent. Null: not now, take the next target. */
  enter(slot: number, now: number): Entry | null
  /** The provider answered as it should, or the error was the caller's own. */
  recordSuccess(slot: number, entry: Entry, now: number): void
  /** It could not be reached, timed out, broke off, or answered with a status that is retried. */
  recordFailure(slot: number, entry: Entry, now: number): void
  /** The call ended and says nothing about the provider (the client disconnected, the credential was rejected). */
  abandon(slot: number, entry: Entry): void
  /** Releases the probes of a dead thread. Never call it for one that runs. */
  abandonAll(thread: number): void
  markFailing(slot: number, now: number): void
  /** Forgets everything about the slot: after a good check, a new revision, or when a new provider takes it. */
  markReady(slot: number): void
  /** No call uses the credential until then. Never shortens a cooldown. */
  coolDownCredential(slot: number, index: number, until: number): void
  /** The provider rejected this credential of `count`. True: none is left, and the provider is failing from now on. */
  rejectCredential(slot: number, index: number, count: number, now: number): boolean
  /** Whether the credential is cooling down or was rejected. */
  isCoolingDown(slot: number, index: number, now: number): boolean
  /** The next credential in turn that is not cooling down; null when all are. `count` is at least 1. */
  pickCredential(slot: number, count: number, now: number): number | null
}

/** In zeroed memory every provider is healthy. */
export function createHealthMemory(slots: number): SharedArrayBuffer {
  return new SharedArrayBuffer(slots * rowWords * BigInt64Array.BYTES_PER_ELEMENT)
}

const ready: HealthView = Object.freeze({ state: 'ready' })
const halfOpen: HealthView = Object.freeze({ state: 'half-open' })

/** `thread` is the caller's own column, as in the counters; null for whoever sends nothing. */
export function attachHealth(buffer: SharedArrayBuffer, thread: number | null = null): Health {
  const words = new BigInt64Array(buffer)
  const breaker = new Breaker(words, rowWords, thread)
  const pool = new CredentialPool(words, rowWords, breakerWords)
  const failing = (slot: number) => Number(Atomics.load(words, slot * rowWords + failingSince))

  function markFailing(slot: number, now: number): void {
    // The first to notice says since when.
    Atomics.compareExchange(words, slot * rowWords + failingSince, 0n, BigInt(Math.floor(now)))
  }

  function view(slot: number, now: number, credentials = 0): HealthView {
    const since = failing(slot)
    if (since !== 0) return { state: 'failing', since }
    const availableAt = credentials === 0 ? 0 : pool.availableAt(slot, credentials, now)
    if (availableAt !== 0) return { state: 'cooling-down', until: availableAt }
    const { phase, until } = breaker.state(slot, now)
    if (phase === 'closed') return ready
    return phase === 'half-open' ? halfOpen : { state: phase, until }
  }

  return {
    view,
    enter: (slot, now) => (failing(slot) !== 0 ? null : breaker.enter(slot, now)),
    recordSuccess: (slot, entry, now) => breaker.recordSuccess(slot, entry, now),
    recordFailure: (slot, entry, now) => breaker.recordFailure(slot, entry, now),
    abandon: (slot, entry) => breaker.abandon(slot, entry),
    abandonAll: (dead) => breaker.abandonAll(dead),
    markFailing,
    markReady(slot) {
      pool.clear(slot)
      breaker.close(slot)
      Atomics.store(words, slot * rowWords + failingSince, 0n)
    },
    coolDownCredential: (slot, index, until) => pool.coolDown(slot, index, until),
    rejectCredential(slot, index, count, now) {
      const none = pool.reject(slot, index, count)
      if (none) markFailing(slot, now)
      return none
    },
    isCoolingDown: (slot, index, now) => pool.isCoolingDown(slot, index, now),
    pickCredential: (slot, count, now) => pool.pick(slot, count, now),
  }
}
