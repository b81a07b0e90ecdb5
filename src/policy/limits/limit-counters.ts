import type { BookedAmount, SettledHold } from '../../core/journal-format.ts'
import type { Limit, LimitFigures } from '../../core/policies/policy-limits.ts'
import type { AllowanceWant } from './allowance.ts'
import { type Apart, BucketClock, sharedTime } from './bucket-clock.ts'
import {
  allowanceWaitMs,
  BudgetCounters,
  type BudgetHold,
  type BudgetNeed,
  type BudgetRefusal,
  type Moment,
  type RaisedBudgets,
} from './budget-counters.ts'
import { HoldLedger } from './hold-ledger.ts'
import { type LimitMemory, LimitRows } from './limit-memory.ts'
import { localCounting, type MinuteCounting } from './minute-counting.ts'
import { nextAnswer, sharedCounting, wasRefused } from './shared-window.ts'

/** A limit that refuses, and why. */
export interface LimitRefusal {
  limit: Limit
  /** The amount asked for, and what was used and held at that time. */
  amount: number
  used: number
  /** Milliseconds after which a retry may help; null: waiting does not help. */
  waitMs: number | null
  /**
   * For a limit that nodes share: why this node could not be granted more. `unheard`: no answer has come yet; `held`: the others use or
   * hold the rest.
   */
  apart: Apart | 'unheard' | 'held'
  /** For a limit that nodes share: what to ask the others for; null: nothing, as the same was refused just now. */
  want: LimitWant | null
}

/** Sent by a data-plane thread to the cluster thread: this node needs more of a limit. */
export interface LimitWant {
  /** Index of the row in the limits' memory. */
  row: number
  /** The limit is for requests at once. */
  slots: boolean
  /** What a waiting request needs. */
  need: number
}

/** What one request has taken of one limit. */
interface Taken {
  limit: Limit
  row: number
  /** The sum of all turns. */
  amount: number
  /** For a window: where the last turn was booked, and how much of `amount` that was. */
  epoch: number
  recent: number
  /** What was left of the limit at that time. */
  left: number
  /** For a hold that lasts until the end: its index in the ledger. */
  entry: number | null
}

/** What a request holds of all limits of its key; settled once. */
export interface LimitHold {
  limits: readonly Limit[]
  /** The end user, whose own counters are named after it. */
  user: string | null
  taken: Taken[]
  /** The target and tokens that the budgets hold for; null until the plan is known. */
  heldFor: { input: number; output: number; target: object; limited?: boolean } | null
  /** Holds of budgets; empty until the plan is known. */
  budgets: BudgetHold[]
  /** The actual cost, once it is journaled; `kept`: it started background work, which keeps the hold. */
  actual: BudgetNeed | 'kept' | null
}

/** What a request of a key with limits has taken, until it is settled. */
export interface TakenLimits {
  /** null: the request was refused. */
  hold: LimitHold | null
  /** For the headers of its answer. */
  figures: LimitFigures
}

/** What a request will use, as far as it is known when it is admitted. */
export interface AskedAmounts {
  requests: number
  tokens: number
}

/**
 * How often all counters are tried: a refusal may be due to a request that holds one only for a moment, because another counter refuses it.
 */
const tries = 3

/**
 * The limits of all keys, on which all threads agree exactly. A request takes from every limit of its key, or from none. Windows are booked
 * at admission and corrected at the end; requests at once are held until the end.
 */
export class LimitCounters {
  readonly #rows: LimitRows
  readonly #ledger: HoldLedger
  readonly #now: () => number
  readonly #budgets: BudgetCounters
  readonly #counting: MinuteCounting
  readonly #wantMore: (want: LimitWant) => void

  /** Budgets are shared with other nodes: more can be asked for after a refusal. */
  readonly sharesBudgets: boolean

  /**
   * `column`: the caller's column in the ledger. `now`: milliseconds of a monotonic clock that all threads share. `notify` asks for more of
   * a shared budget, `wantMore` for more of a shared limit per minute or at once.
   */
  constructor(
    memory: LimitMemory,
    column: number,
    now: () => number = sharedTime(),
    notify: (want: AllowanceWant) => void = () => {},
    wantMore: (want: LimitWant) => void = () => {},
  ) {
    this.#rows = new LimitRows(memory)
    this.#ledger = new HoldLedger(memory.holds, column)
    this.#now = now
    this.sharesBudgets = memory.shared.budgets
    const { windows } = memory.shared
    this.#counting = windows === null ? localCounting : sharedCounting(new BucketClock(windows))
    this.#wantMore = wantMore
    this.#budgets = new BudgetCounters(this.#rows, this.#ledger, { column, notify: this.sharesBudgets ? notify : null })
  }

  /** Limits per minute and requests at once are shared with other nodes: more can be asked for after a refusal. */
  get sharesWindows(): boolean {
    return this.#counting.isShared
  }

  /** Why the other nodes cannot grant anything now. */
  apart({ period }: Pick<Limit, 'period'>): Apart {
    return period === null ? this.#counting.apart() : this.#budgets.isCutOff ? 'cut off' : null
  }

  /** Resolves when more may be available, or after the time. */
  async askOthers(want: LimitWant, ms: number): Promise<void> {
    await nextAnswer(this.#rows.words, want.row, ms, () => this.#wantMore(want))
  }

  /** What this node does not have yet of an account's limits, for a caller that will take it later without waiting; null: it has all. */
  findWant(limits: readonly Limit[], asked: AskedAmounts): LimitWant | null {
    const found = this.admit(limits, null, asked)
    if (!('taken' in found)) return found.want
    this.#undo(found, 0)
    return null
  }

  admit(limits: readonly Limit[], user: string | null, asked: AskedAmounts): LimitHold | LimitRefusal {
    const hold: LimitHold = { limits, user, taken: [], heldFor: null, budgets: [], actual: null }
    return this.#tryAll(hold, asked, true) ?? hold
  }

  /** One more turn of a connection that was admitted before. Null: it may go on. */
  admitTurn(hold: LimitHold, asked: AskedAmounts): LimitRefusal | null {
    const refusal = this.#tryAll(hold, asked, false)
    if (refusal === null) hold.taken = mergeTurns(hold.taken)
    return refusal
  }

  /** Corrects to the actual tokens of all turns so far: more is booked now, less is taken back where it was booked last. */
  correctTokens({ taken }: LimitHold, tokens: number): void {
    const epoch = this.#counting.epochAt(this.#now())
    for (const one of taken) {
      if (one.limit.kind !== 'tokens') continue
      const recent = Math.max(0, one.recent + tokens - one.amount)
      const booked = { amount: one.recent, epoch: one.epoch }
      this.#counting.windowOf('tokens').correct(this.#rows, one.row, booked, recent, epoch)
      // A moment that may be in either of two buckets has no bucket number.
      if (recent > one.recent && epoch > 0) one.epoch = epoch
      one.recent = recent
      one.amount = tokens
    }
  }

  /** Releases everything: the request was not sent. */
  cancel(hold: LimitHold): void {
    this.#undo(hold, 0)
    this.#budgets.settle(hold.budgets)
  }

  /** Called once, at the end. */
  release(hold: LimitHold): void {
    for (const { row, entry } of hold.taken) if (entry !== null) this.#release(row, entry)
    hold.taken.length = 0
    if (hold.actual === 'kept') this.#budgets.keep(hold.budgets)
    else this.#budgets.settle(hold.budgets, hold.actual ?? undefined)
  }

  /** Releases what a dead thread holds; what it booked in windows stays. */
  reverseThread(column: number): void {
    this.#rows.follow()
    const claimed = this.#ledger.takeClaim(column)
    if (claimed !== 0) this.#budgets.endClaim(claimed, column)
    this.#ledger.takeAll(column, (place, amount) => {
      if (place < 0) this.#budgets.spend(-place, amount)
      else this.#counting.releaseSlots(this.#rows.words, place, amount)
    })
  }

  /** Holds the most that a request can cost in all budgets, before it is sent. Null: it may be sent. */
  holdBudgets(hold: LimitHold, need: BudgetNeed, moment: Moment): BudgetRefusal | null {
    return this.#budgets.hold(hold.limits, hold.user, need, moment, hold.budgets)
  }

  /** Resolves when more may be available, or after the time. False: it is known not to be. */
  async askAllowance(want: AllowanceWant, ms = allowanceWaitMs): Promise<boolean> {
    return await this.#budgets.ask(want, ms)
  }

  /** For a request whose need is not known yet. */
  async askAllowances(limits: readonly Limit[], user: string | null, moment: Moment): Promise<void> {
    await this.#budgets.askAll(limits, user, moment)
  }

  /** Raises the holds when a request may cost more than expected. `now`: grants that are valid by then count. */
  raiseBudgets(hold: LimitHold, need: BudgetNeed, now: number): RaisedBudgets | BudgetRefusal {
    return this.#budgets.raise(hold.budgets, need, now)
  }

  /** Books what the turns of an open connection came to. */
  bookTurns(hold: LimitHold, actual: BudgetNeed): void {
    this.#budgets.settle(hold.budgets, actual, true)
  }

  /** The counter of a budget's period, by name. */
  findPeriod(counter: string, period: string): { half: number; number: number } | null {
    return this.#budgets.find(counter, period)
  }

  /** Loads earlier spending and the holds of batches. Until then budgets refuse everything. */
  seed(used: Iterable<BookedAmount>, held: Iterable<BookedAmount> = []): void {
    this.#budgets.seed(used, held)
  }

  get budgetParts() {
    return this.#budgets.parts
  }

  /** Counts as used of a budget besides what requests book. */
  addUsed(booked: BookedAmount): void {
    this.#budgets.addUsed(booked)
  }

  /** Settles the holds of background work with its actual cost. */
  settleKept(settled: readonly SettledHold[]): void {
    this.#budgets.settleKept(settled)
  }

  /** What is used and held of a budget in its present period. */
  budgetUse(limit: Limit, moment: Moment, user: string | null = null) {
    return this.#budgets.use(limit, user, moment)
  }

  /** What this node alone has spent of a budget in a period, by name. */
  spentHere(counter: string, period: string): number {
    return this.#budgets.spentHere(counter, period)
  }

  /** What is used or held of a limit now. */
  used(limit: Limit, user: string | null = null): number {
    const row = this.#find(limit, user)
    if (row === null) return 0
    if (limit.kind === 'concurrency') return this.#counting.usedSlots(this.#rows.words, row)
    return this.#counting.windowOf(limit.kind).used(this.#rows, row, this.#counting.epochAt(this.#now()))
  }

  /** Milliseconds until this much of what is used now of a limit per minute is free again. */
  freeIn(limit: Limit, amount: number, user: string | null = null): number {
    const row = this.#find(limit, user)
    if (row === null) return 0
    const now = this.#now()
    // When other nodes used it is unknown: all of it is free once the present bucket no longer counts.
    if (this.#counting.isShared && amount >= this.used(limit, user))
      return this.#counting.livesFor(this.#counting.epochAt(now) || Number.POSITIVE_INFINITY, now)
    return this.#counting.windowOf(limit.kind).wait(this.#rows, row, amount, now)
  }

  #find({ perUser, counter }: Limit, user: string | null) {
    return perUser ? this.#rows.findForUser(counter, user ?? '') : this.#rows.find(counter)
  }

  /** The figures of the tightest limits per minute for a request that was just admitted. */
  figures({ taken }: LimitHold): LimitFigures {
    const found: LimitFigures = { requests: null, tokens: null }
    const now = this.#now()
    for (const { limit, left, epoch } of taken) {
      if (limit.kind !== 'requests' && limit.kind !== 'tokens') continue
      const before = found[limit.kind]
      if (before === null || left < before.left)
        found[limit.kind] = { limit: limit.limit, left, resetMs: this.#counting.livesFor(epoch, now) }
    }
    return found
  }

  /** Null: all was taken. */
  #tryAll(hold: LimitHold, asked: AskedAmounts, first: boolean): LimitRefusal | null {
    const before = hold.taken.length
    for (let attempt = 1; ; attempt++) {
      const refusal = this.#takeAll(hold, asked, first)
      if (refusal === null) return null
      this.#undo(hold, before)
      if (attempt === tries || refusal.amount > refusal.limit.limit) return refusal
    }
  }

  #takeAll(hold: LimitHold, asked: AskedAmounts, first: boolean): LimitRefusal | null {
    const now = this.#now()
    const moment = { now, epoch: this.#counting.epochAt(now) }
    for (const limit of hold.limits) {
      if (limit.period !== null || (limit.kind === 'concurrency' && !first)) continue
      const row = this.#place(limit, hold.user)
      const refusal =
        row === null
          ? { limit, amount: 0, used: 0, waitMs: 1000, apart: null, want: null }
          : limit.kind === 'concurrency'
            ? this.#hold(hold, limit, row)
            : this.#book(hold, limit, row, limit.kind === 'requests' ? asked.requests : asked.tokens, moment)
      if (refusal !== null) return refusal
    }
    return null
  }

  #book(
    hold: LimitHold,
    limit: Limit,
    row: number,
    amount: number,
    { now, epoch }: { now: number; epoch: number },
  ): LimitRefusal | null {
    const window = this.#counting.windowOf(limit.kind)
    const left = window.take(this.#rows, row, amount, limit.limit, epoch)
    if (left >= 0) {
      hold.taken.push({ limit, row, amount, epoch, recent: amount, left, entry: null })
      return null
    }
    const waitMs = amount > limit.limit || limit.limit === 0 ? null : window.wait(this.#rows, row, -left, now)
    return this.#refuse(limit, row, { amount, used: limit.limit - left - amount, waitMs })
  }

  /** Without a recent answer it is unknown whether the other nodes left something. */
  #refuse(limit: Limit, row: number, found: Pick<LimitRefusal, 'amount' | 'used' | 'waitMs'>): LimitRefusal {
    const need = found.amount
    let { waitMs } = found
    let apart: LimitRefusal['apart'] = this.#counting.apart()
    let want: LimitWant | null = null
    if (this.#counting.isShared && need <= limit.limit) {
      if (wasRefused(this.#rows.words, row, need, this.#now())) apart ??= 'held'
      else {
        want = { row, slots: limit.kind === 'concurrency', need }
        if (apart === null) waitMs = 1000
        apart ??= 'unheard'
      }
    }
    return { limit, ...found, waitMs, apart, want }
  }

  #hold(hold: LimitHold, limit: Limit, row: number): LimitRefusal | null {
    const { words } = this.#rows
    const { isTaken, used } = this.#counting.takeSlot(words, row, limit.limit)
    if (!isTaken) return this.#refuse(limit, row, { amount: 1, used, waitMs: limit.limit === 0 ? null : 1000 })
    const entry = this.#ledger.open(row, 1n)
    if (entry === null) {
      this.#counting.releaseSlots(words, row, 1n)
      return { limit, amount: 1, used, waitMs: 1000, apart: null, want: null }
    }
    hold.taken.push({ limit, row, amount: 1, epoch: 0, recent: 0, left: limit.limit - used - 1, entry })
    return null
  }

  #undo({ taken }: LimitHold, keep: number): void {
    for (const { limit, row, amount, epoch, entry } of taken.splice(keep)) {
      if (entry !== null) this.#release(row, entry)
      else this.#counting.windowOf(limit.kind).correct(this.#rows, row, { amount, epoch }, 0, epoch)
    }
  }

  /** In this order a thread that dies between the two steps leaves too much counted, never too little. */
  #release(row: number, entry: number): void {
    this.#ledger.close(entry)
    this.#counting.releaseSlots(this.#rows.words, row, 1n)
  }

  #place(limit: Limit, user: string | null): number | null {
    const size = limit.kind === 'concurrency' ? this.#counting.slotSize : this.#counting.windowOf(limit.kind).size
    if (limit.perUser) return this.#rows.makeForUser(limit.counter, user ?? '', size)?.row ?? null
    return this.#rows.make(limit.counter, size)
  }
}

/** A connection may have any number of turns: their bookings become one amount, of which only the last turn's can still be taken back. */
function mergeTurns(taken: readonly Taken[]): Taken[] {
  const byRow = new Map<number, Taken>()
  for (const one of taken) byRow.set(one.row, { ...one, amount: (byRow.get(one.row)?.amount ?? 0) + one.amount })
  return [...byRow.values()]
}
