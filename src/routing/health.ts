import { breakerWords, type Trouble } from './breaker.ts'
import {
  CallerBreakers,
  callerRows,
  callerWords,
  type Outcome,
  type Passage,
  plain,
  type Trip,
} from './caller-breakers.ts'
import { CredentialPool, endsAfter, poolLimit, poolWords, raise } from './credential-pool.ts'
import { LatencyFigures, latencyWords } from './latency-figures.ts'
import { rowId } from './row-table.ts'
import { type HealthTarget, TargetTable } from './target-table.ts'

export type { Outcome, Trip } from './caller-breakers.ts'
export { poolLimit } from './credential-pool.ts'
export type { HealthTarget } from './target-table.ts'

/** (provider, model) pairs that one run of the gateway watches, each in a row of its own. */
const targetRows = 4096

/** Columns of a provider's row behind its breaker and its pool. */
const providerWord = { keyed: 0, answeredAt: 1, suspicion: 2 } as const
const ownWords = 2 + poolLimit
const providerWords = breakerWords + poolWords + ownWords
/** Columns of a target's row: its id, its provider, and until when callers may have breakers of their own; then breaker and limits. */
const targetHead = 3
const limitsAt = targetHead + breakerWords
const latencyAt = limitsAt + poolLimit
const targetWords = latencyAt + latencyWords

/** No limit of a model is kept for longer, whatever its provider says. */
export const longestLimitMs = 60 * 60_000

export type HealthView =
  /** `since`: when the trouble of the target ended. */
  | { state: 'ready'; since?: number }
  /** The breaker has been open long enough: one request may probe. */
  | { state: 'half-open'; trouble?: Trouble }
  /** Another request is probing. */
  | { state: 'probing'; until: number; trouble?: Trouble }
  /** `caller`: open only for this caller, whose own calls have failed. */
  | { state: 'open'; until: number; trouble?: Trouble; caller?: true }
  /** No call has succeeded lately, but only one caller's calls have failed: others may try. */
  | { state: 'doubtful'; trouble: Trouble }
  /** Every credential that could be used met a limit of this model: a last resort. */
  | { state: 'limited'; until: number }
  /** Every credential of the pool is cooling down. `exhausted`: since its account is out of quota. */
  | { state: 'cooling-down'; until: number; exhausted: boolean }

/** How a call was let in. It is given back with the call's outcome. */
export interface CallEntry {
  slot: number
  row: number
  provider: Passage
  target: Passage | null
}

/** What the end of a call says about the provider itself (connections) and about the model that was asked (answers). */
export interface CallOutcome {
  provider: Outcome
  target: Outcome
  /** A status, or a `failureCause`. */
  cause: number
}

/**
 * What all threads together know about each provider, by its slot, and each of its models. Times are epoch milliseconds
 * (`Date.now()`): one clock for all threads. A slot beyond the memory throws a `RangeError`. `caller` is a key's id; null: its
 * failures count for all, as in a gateway with a single key.
 */
export interface Health {
  readonly latency: LatencyFigures
  /** What a request would meet now; changes nothing. `credentials` is the size of the pool, 0 for a provider without. */
  view(
    slot: number,
    now: number,
    credentials?: number,
    target?: HealthTarget | null,
    caller?: string | null,
  ): HealthView
  /** The state of a model, whatever its provider's is. */
  viewTarget(target: HealthTarget, now: number): HealthView
  /** Call it just before sending. Null: not now, take the next target. `mayProbe` false: the client may never complete its request. */
  enter(target: HealthTarget, caller: string | null, now: number, mayProbe?: boolean): CallEntry | null
  /** Once for each entry. Returns what the control plane should check. */
  record(entry: CallEntry, target: HealthTarget, outcome: CallOutcome, caller: string | null, now: number): Trip
  /** After `record`: the answer has broken off after a good beginning. */
  recordBreak(target: HealthTarget, outcome: CallOutcome, caller: string | null, now: number): Trip
  /** In place of `record`, for a call that ended without an outcome. */
  abandon(entry: CallEntry): void
  /** Releases the probes of a crashed thread. Never call it for a running one. */
  abandonAll(thread: number): void
  /** Keeps everybody's calls away, as after repeated failures: the check has failed like the calls. */
  open(slot: number, now: number, cause: number): void
  /** Forgets everything about the slot: after a good check, a new revision, or when a new provider takes it. */
  markReady(slot: number): void
  /** True for the first answer since `markReady`, on one thread only. */
  markAnswered(slot: number, now: number): boolean
  /** No call uses the credential until then. Never shortens a cooldown. `exhausted`: its account is out of quota. */
  coolDownCredential(slot: number, index: number, until: number, exhausted?: boolean): void
  /** The same for one model, as long as another credential or target can serve it. */
  limitCredential(target: HealthTarget, index: number, until: number): void
  /** For a credential that no check can prove: rejections of two callers, or five in a row, cool it down. True: they did now. */
  suspectCredential(slot: number, index: number, caller: string, until: number): boolean
  /** The provider accepted it: earlier rejections no longer count. */
  trustCredential(slot: number, index: number): void
  /** Whether no call uses the credential now. */
  isCoolingDown(slot: number, index: number, now: number): boolean
  /** Whether it can be used at once: not cooling down, and no limit of this model met. */
  isUsable(target: HealthTarget, index: number, now: number): boolean
  /**
   * The next credential in turn; null when all are cooling down. Those that have met a limit of the model come last, and those of
   * `tried` after them. `count` is at least 1.
   */
  pickCredential(
    slot: number,
    count: number,
    now: number,
    target?: HealthTarget | null,
    tried?: readonly number[],
  ): number | null
}

/** In zeroed memory every provider is healthy. */
export function createHealthMemory(slots: number): SharedArrayBuffer {
  const words = slots * providerWords + targetRows * targetWords + callerRows * callerWords
  return new SharedArrayBuffer(words * BigInt64Array.BYTES_PER_ELEMENT)
}

const ready: HealthView = Object.freeze({ state: 'ready' })

/** `thread`: this thread's column, as in the counters; null for a thread that sends no calls. `onTarget` is called for each new row. */
export function attachHealth(
  buffer: SharedArrayBuffer,
  thread: number | null = null,
  onTarget: (slot: number, model: string) => void = () => {},
): Health {
  return new SharedHealth(new BigInt64Array(buffer), thread, onTarget)
}

class SharedHealth implements Health {
  readonly latency: LatencyFigures
  readonly #words: BigInt64Array
  readonly #targetsAt: number
  readonly #providers: CallerBreakers
  readonly #models: CallerBreakers
  readonly #pool: CredentialPool
  readonly #table: TargetTable

  constructor(words: BigInt64Array, thread: number | null, onTarget: (slot: number, model: string) => void) {
    const slots = (words.length - targetRows * targetWords - callerRows * callerWords) / providerWords
    const ownOffset = words.length - callerRows * callerWords
    this.#words = words
    this.#targetsAt = slots * providerWords
    const targets = { rowWords: targetWords, offset: this.#targetsAt, rows: targetRows }
    const shared = { rowWords: providerWords, offset: 0, rows: slots }
    const keyed = (slot: number) => this.#inProvider(slot, providerWord.keyed)
    this.#providers = new CallerBreakers(words, { shared, keyed, number: 0, ownOffset }, thread)
    this.#models = new CallerBreakers(
      words,
      {
        shared: { ...targets, offset: this.#targetsAt + targetHead },
        keyed: (row) => this.#inTarget(row, 2),
        number: 1,
        ownOffset,
      },
      thread,
    )
    this.#pool = new CredentialPool(words, providerWords, breakerWords)
    this.#table = new TargetTable(words, targets, onTarget)
    this.latency = new LatencyFigures(words, this.#table, (row) => this.#inTarget(row, latencyAt))
  }

  view(
    slot: number,
    now: number,
    credentials = 0,
    target: HealthTarget | null = null,
    caller: string | null = null,
  ): HealthView {
    const cooldown = credentials === 0 ? null : this.#pool.cooldown(slot, credentials, now)
    if (cooldown !== null) return { state: 'cooling-down', ...cooldown }
    const provider = viewBreaker(this.#providers, slot, now, caller)
    if (target === null || provider.state === 'open' || provider.state === 'probing') return provider
    const row = this.#table.find(target)
    if (row < 0) return provider
    const model = viewBreaker(this.#models, row, now, caller)
    if (model.state !== 'ready' && model.state !== 'doubtful') return model
    const until = this.#limitEnds(slot, row, credentials, now)
    return until > now ? { state: 'limited', until } : worse(provider, model)
  }

  viewTarget(target: HealthTarget, now: number): HealthView {
    const row = this.#table.find(target)
    const view = row < 0 ? ready : viewBreaker(this.#models, row, now, null)
    const since = view === ready && row >= 0 ? this.#models.shared.recoveredAt(row) : 0
    return since === 0 ? view : { state: 'ready', since }
  }

  enter(target: HealthTarget, caller: string | null, now: number, mayProbe = true): CallEntry | null {
    const { slot } = target
    const provider = this.#providers.enter(slot, caller, now, mayProbe)
    if (provider === null) return null
    const row = this.#table.claim(target)
    const model = row < 0 ? null : this.#models.enter(row, caller, now, mayProbe)
    if (row < 0 || model !== null) return { slot, row, provider, target: model }
    this.#providers.abandon(slot, provider)
    return null
  }

  record(entry: CallEntry, target: HealthTarget, outcome: CallOutcome, caller: string | null, now: number): Trip {
    const { slot, row } = entry
    const trip = this.#providers.settle(slot, entry.provider, outcome.provider, caller, now, outcome.cause)
    if (entry.target === null) return trip
    const modelTrip = this.#models.settle(row, entry.target, outcome.target, caller, now, outcome.cause)
    if (outcome.target === 'success') this.#table.part(target)
    return trip === 'all' || modelTrip === null ? trip : modelTrip
  }

  recordBreak(target: HealthTarget, outcome: CallOutcome, caller: string | null, now: number): Trip {
    const row = this.#table.find(target)
    const entry = { slot: target.slot, row, provider: plain, target: row < 0 ? null : plain }
    return this.record(entry, target, outcome, caller, now)
  }

  abandon({ slot, row, provider, target }: CallEntry): void {
    this.#providers.abandon(slot, provider)
    if (target !== null) this.#models.abandon(row, target)
  }

  abandonAll(dead: number): void {
    this.#providers.abandonAll(dead)
    this.#models.abandonAll(dead)
  }

  open(slot: number, now: number, cause: number): void {
    this.#providers.shared.open(slot, now, cause)
  }

  markReady(slot: number): void {
    this.#pool.clear(slot)
    this.#providers.close(slot)
    for (let column = 0; column < ownWords; column++) this.#store(this.#inProvider(slot, column), 0n)
    for (const row of this.#table.rowsOf(slot)) {
      this.#models.close(row)
      this.latency.clear(row)
      for (let index = 0; index < poolLimit; index++) this.#store(this.#inTarget(row, limitsAt + index), 0n)
    }
  }

  markAnswered(slot: number, now: number): boolean {
    const place = this.#inProvider(slot, providerWord.answeredAt)
    if (this.#load(place) !== 0n) return false
    return Atomics.compareExchange(this.#words, place, 0n, BigInt(Math.floor(now))) === 0n
  }

  coolDownCredential(slot: number, index: number, until: number, exhausted = false): void {
    this.#pool.coolDown(slot, index, until, exhausted)
  }

  limitCredential(target: HealthTarget, index: number, until: number): void {
    const row = this.#table.claim(target)
    if (row >= 0 && index < poolLimit) raise(this.#words, this.#inTarget(row, limitsAt + index), until, longestLimitMs)
  }

  suspectCredential(slot: number, index: number, caller: string, until: number): boolean {
    if (index >= poolLimit) return false
    if (!suspect(this.#words, this.#inProvider(slot, providerWord.suspicion + index), caller)) return false
    this.#pool.coolDown(slot, index, until, false)
    return true
  }

  trustCredential(slot: number, index: number): void {
    if (index >= poolLimit) return
    const place = this.#inProvider(slot, providerWord.suspicion + index)
    if (this.#load(place) !== 0n) this.#store(place, 0n)
  }

  isCoolingDown(slot: number, index: number, now: number): boolean {
    return this.#pool.isCoolingDown(slot, index, now)
  }

  isUsable(target: HealthTarget, index: number, now: number): boolean {
    return (
      !this.isCoolingDown(target.slot, index, now) && this.#limitedUntil(this.#table.find(target), index, now) === 0
    )
  }

  pickCredential(
    slot: number,
    count: number,
    now: number,
    target: HealthTarget | null = null,
    tried: readonly number[] = noneTried,
  ): number | null {
    const row = target === null ? -1 : this.#table.find(target)
    return this.#pool.pick(slot, count, now, (index) => {
      return (tried.includes(index) ? 2 ** 52 : 0) + this.#limitedUntil(row, index, now)
    })
  }

  /** When a credential can be used for the model again; 0: one can now. */
  #limitEnds(slot: number, row: number, count: number, now: number): number {
    let soonest = Number.POSITIVE_INFINITY
    for (let index = 0; index < Math.min(Math.max(count, 1), poolLimit); index++) {
      const until = this.#limitedUntil(row, index, now)
      if (this.#pool.isCoolingDown(slot, index, now)) continue
      if (until === 0) return 0
      soonest = Math.min(soonest, until)
    }
    return soonest
  }

  /** 0: no limit is met. */
  #limitedUntil(row: number, index: number, now: number): number {
    const until = row < 0 || index >= poolLimit ? 0 : Number(this.#load(this.#inTarget(row, limitsAt + index)))
    return endsAfter(until, now, longestLimitMs) ? until : 0
  }

  #inProvider(slot: number, column: number): number {
    return slot * providerWords + breakerWords + poolWords + column
  }

  #inTarget(row: number, column: number): number {
    return this.#targetsAt + row * targetWords + column
  }

  #load(place: number): bigint {
    return Atomics.load(this.#words, place)
  }

  #store(place: number, value: bigint): void {
    Atomics.store(this.#words, place, value)
  }
}

const noneTried: readonly number[] = []

function worse(provider: HealthView, model: HealthView): HealthView {
  return provider.state === 'ready' ? model : provider
}

function viewBreaker(breakers: CallerBreakers, row: number, now: number, caller: string | null): HealthView {
  const { phase, until } = breakers.shared.state(row, now)
  if (phase !== 'closed') {
    const trouble = breakers.shared.trouble(row)
    const more = trouble === null ? {} : { trouble }
    return phase === 'half-open' ? { state: phase, ...more } : { state: phase, until, ...more }
  }
  const paused = breakers.pausedUntil(row, caller, now)
  const trouble = breakers.shared.trouble(row)
  if (paused !== 0)
    return trouble === null
      ? { state: 'open', until: paused, caller: true }
      : { state: 'open', until: paused, caller: true, trouble }
  return trouble === null ? ready : { state: 'doubtful', trouble }
}

const suspicionsInARow = 5n

/** Counts rejections in a row, and whose calls they were, in one word. True: these are enough; counting starts again. */
function suspect(words: BigInt64Array, place: number, caller: string): boolean {
  const own = rowId(0, caller) >> 3n
  for (;;) {
    const found = Atomics.load(words, place)
    const count = found === 0n ? 1n : (found & 7n) + 1n
    const enough = count >= suspicionsInARow || (found !== 0n && found >> 3n !== own)
    const next = enough ? 0n : (own << 3n) | count
    if (Atomics.compareExchange(words, place, found, next) === found) return enough
  }
}
