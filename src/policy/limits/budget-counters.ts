import type { BookedAmount, SettledHold } from '../../core/journal-format.ts'
import { type Limit, limitAt } from '../../core/policies/policy-limits.ts'
import {
  type AllowanceWant,
  nextAnswer,
  readShared,
  sharedPeriodSize,
  takeAllowed,
  wantsMore,
  wasRefused,
} from './allowance.ts'
import type { HoldLedger } from './hold-ledger.ts'
import { type LimitRows, type NamedRow, readUserCounter } from './limit-memory.ts'
import {
  addHeld,
  addSettled,
  countHold,
  endClaim,
  halfOf,
  isPeriod,
  openPeriod,
  type PeriodUse,
  periodSize,
  readHalf,
  settlePeriod,
  spendHold,
  takePeriod,
} from './period-row.ts'
import { type BudgetPeriod, Periods, readPeriodName } from './periods.ts'
import { type WhyRefused, whyRefused } from './why-refused.ts'

/** The most that a request can cost, or what it did cost. */
export interface BudgetNeed {
  /** Nano-dollars. */
  usd: bigint
  tokens: number
}

/** What a request holds of one budget. */
export interface BudgetHold {
  limit: Limit
  counter: string
  period: BudgetPeriod
  half: number
  held: bigint
  /** The actual cost so far, which is spent and no longer held. */
  booked: bigint
  /** By how much the actual cost exceeded the hold. */
  exceeded?: bigint
  /** The limit when the hold was taken, including extra grants. */
  most: number
  entry: number
}

export interface BudgetRefusal {
  limit: Limit
  period: BudgetPeriod
  need: bigint
  /** The limit now, including extra grants. */
  most: number
  use: PeriodUse
  why: WhyRefused
  /** In a cluster: what asking for may help, before it is final. */
  want: AllowanceWant | null
}

/** `more`: whether more is held than before. */
export interface RaisedBudgets {
  more: boolean
}

/** When, and in which time zone: budgets follow the workspace's calendar. */
export interface Moment {
  timeZone: string
  /** Epoch milliseconds. */
  now: number
}

const tries = 3
const nothing: BudgetNeed = { usd: 0n, tokens: 0 }
/** How often room is looked for once more after there was none. */
const looks = 100
/** How long a request waits for more of an allowance. PostgreSQL answers in milliseconds, but may be far away or busy. */
export const allowanceWaitMs = 1000

/** Budgets: held before a request is sent, settled with its actual cost. */
export class BudgetCounters {
  readonly #rows: LimitRows
  readonly #ledger: HoldLedger
  readonly #claimer: { column: number; note(half: number): void }
  readonly #periods = new Periods()
  /** Asks the control plane for more of an allowance; null: the gateway is not in a cluster. */
  readonly #notify: ((want: AllowanceWant) => void) | null
  readonly #rowSize: number

  constructor(
    rows: LimitRows,
    ledger: HoldLedger,
    { column, notify }: { column: number; notify: ((want: AllowanceWant) => void) | null },
  ) {
    this.#rows = rows
    this.#ledger = ledger
    this.#notify = notify
    this.#rowSize = notify === null ? periodSize : sharedPeriodSize
    this.#claimer = { column, note: (half) => ledger.claiming(half) }
  }

  /** Holds all budgets or none, and adds the holds to `holds`. Null: held. */
  hold(
    limits: readonly Limit[],
    user: string | null,
    need: BudgetNeed,
    moment: Moment,
    holds: BudgetHold[],
  ): BudgetRefusal | null {
    for (let attempt = 1; ; attempt++) {
      const refusal = this.#holdAll(limits, user, need, moment, holds)
      if (refusal === null) return null
      this.settle(holds)
      if (refusal.why !== 'held' || attempt === tries) return refusal
    }
  }

  /** Raises holds that are too small. After a refusal all holds are as before. */
  raise(holds: readonly BudgetHold[], need: BudgetNeed, now: number): RaisedBudgets | BudgetRefusal {
    const raised: { hold: BudgetHold; more: bigint }[] = []
    for (const hold of holds) {
      const more = amountOf(hold.limit, need) - hold.booked - hold.held
      if (more <= 0n) continue
      const most = limitAt(hold.limit, now)
      // What would be held there now would be another period's, and nobody would give it back.
      const isOver = !isPeriod(this.#rows.words, hold.half, hold.period.number)
      if (isOver && hold.limit.warns) continue
      const use = isOver ? nothingUsed : this.#take({ ...hold, most }, more)
      if (use === null) {
        raised.push({ hold, more })
        continue
      }
      for (const done of raised) takePeriod(this.#rows.words, done.hold.half, -done.more, null)
      const refusal = this.#refuse({ ...hold, most }, hold.held + more, use, more)
      return isOver ? { ...refusal, want: null, why: 'over' } : refusal
    }
    for (const { hold, more } of raised) {
      hold.held += more
      this.#ledger.change(hold.entry, hold.held)
    }
    return { more: raised.length > 0 }
  }

  /** Budgets are shared, and this node cannot be given anything now. */
  get isCutOff(): boolean {
    return this.#notify !== null && this.#rows.cutOff
  }

  /** Books the actual cost so far, and releases the holds. `stays`: a connection that may hold again. */
  settle(holds: BudgetHold[], actual: BudgetNeed = nothing, stays = false): void {
    for (const hold of holds) {
      const { half, held, booked } = hold
      hold.booked = amountOf(hold.limit, actual)
      hold.held = 0n
      this.#ledger.change(hold.entry, 0n)
      settlePeriod(this.#rows.words, half, hold.period.number, held, hold.booked - booked, stays ? 0n : -1n)
    }
    if (!stays) this.keep(holds)
  }

  /** Background work keeps the hold, even if this thread dies. */
  keep(holds: BudgetHold[]): void {
    for (const { entry } of holds.splice(0)) this.#ledger.close(entry)
  }

  /** Settles the holds of background work with its actual cost. */
  settleKept(settled: readonly SettledHold[]): void {
    // Anything earlier is part of the seed.
    if (!this.#rows.seeded) return
    for (const { counter, period, held, actual } of settled) {
      const row = this.#rows.find(counter)
      const { number } = readPeriodName(period)
      if (row === null) continue
      // Without a hold there is no holder to subtract.
      settlePeriod(this.#rows.words, halfOf(row, number), number, BigInt(held), BigInt(actual), held === 0 ? 0n : -1n)
    }
  }

  /** Books the hold of a dead thread as spent. */
  spend(half: number, held: bigint): void {
    spendHold(this.#rows.words, half, held)
  }

  /** Ends a dead thread's claim on a period that it was opening. */
  endClaim(half: number, column: number): void {
    endClaim(this.#rows.words, half, column)
  }

  /** Loads what the store has for the present periods; `held`: by batches. Until then budgets refuse everything. */
  seed(used: Iterable<BookedAmount>, held: Iterable<BookedAmount>): void {
    if (this.#rows.seeded) return
    for (const booked of used) this.#addSeeded(booked, addSettled)
    for (const booked of held) this.#addSeeded(booked, addHeld)
    this.#rows.seed()
  }

  /** For a recount (`restore-budgets.ts`), which is rare. */
  get parts() {
    const { claimer, ledger, rows } = { claimer: this.#claimer, ledger: this.#ledger, rows: this.#rows }
    return { rows, claimer, ledger, rowOf: (name: string) => this.#seededRow(name) }
  }

  /** Counts as used besides what requests book. */
  addUsed(booked: BookedAmount): void {
    this.#addSeeded(booked, addSettled)
  }

  #addSeeded([counter, name, amount]: BookedAmount, add: typeof addSettled): void {
    const row = this.#seededRow(counter)
    const half = row === null ? null : openPeriod(this.#rows.words, row, readPeriodName(name).number, this.#claimer)
    if (half !== null) add(this.#rows.words, half, BigInt(amount))
  }

  /** Asks for what was refused. Resolves with the answer, or after the time. False: nobody answers, or the refusal is already known. */
  async ask(want: AllowanceWant, ms: number): Promise<boolean> {
    const { words, cutOff } = this.#rows
    const { half, period } = want
    if (wasRefused(words, half, period.number, BigInt(want.need), Date.now())) return false
    const notify = () => this.#notify?.(want)
    if (cutOff) notify()
    else await nextAnswer(words, half, { number: period.number, ms, notify })
    return !cutOff
  }

  /** The same for all budgets of a request whose need is not known yet. */
  async askAll(limits: readonly Limit[], user: string | null, moment: Moment): Promise<void> {
    const wants = limits.flatMap((limit) => {
      const period = this.#period(limit, moment)
      const row = limit.period === null || limit.warns ? null : this.#row(limit, user)
      const half = row === null ? null : this.#openNow(row.row, period.number)
      if (row === null || half === null || !wantsMore(this.#rows.words, half, period.number)) return []
      return [this.#want({ limit, half, period, most: limitAt(limit, moment.now) }, row.counter, 1n)]
    })
    await Promise.all(wants.map((want) => this.ask(want, allowanceWaitMs)))
  }

  /** The counter of a period, by name; it is created if missing. Null: there is no room for it, or the period is over. */
  find(counter: string, name: string): { half: number; number: number } | null {
    const { number } = readPeriodName(name)
    const row = this.#seededRow(counter)
    const half = row === null ? null : openPeriod(this.#rows.words, row, number, this.#claimer)
    return half === null ? null : { half, number }
  }

  spentHere(counter: string, name: string): number {
    const found = this.find(counter, name)
    return found === null ? 0 : readHalf(this.#rows.words, found.half, found.number).used
  }

  use(limit: Limit, user: string | null, moment: Moment): PeriodUse & { resetsAt: number } {
    const period = this.#period(limit, moment)
    const { counter } = limit
    const row = limit.perUser ? this.#rows.findForUser(counter, user ?? '') : this.#rows.find(counter)
    const use = row === null ? { used: 0, held: 0, holders: 0 } : this.#read(halfOf(row, period.number), period.number)
    return { ...use, resetsAt: period.end }
  }

  #holdAll(
    limits: readonly Limit[],
    user: string | null,
    need: BudgetNeed,
    moment: Moment,
    holds: BudgetHold[],
  ): BudgetRefusal | null {
    for (const limit of limits) {
      if (limit.period === null) continue
      const period = this.#period(limit, moment)
      const amount = amountOf(limit, need)
      const most = limitAt(limit, moment.now)
      const closed = (why: BudgetRefusal['why'] = 'closed'): BudgetRefusal => {
        return { limit, period, need: amount, most, use: nothingUsed, why, want: null }
      }
      if (!this.#rows.seeded) return closed()
      if (most === 0 && !limit.warns) return closed('spent')
      const row = this.#row(limit, user)
      const half = row === null ? null : this.#openNow(row.row, period.number)
      if (row === null || half === null) return closed()
      const place: HoldPlace = { limit, counter: row.counter, half, period, most }
      const use = this.#take(place, amount)
      if (use !== null) return this.#refuse(place, amount, use, amount)
      const entry = this.#ledger.open(-half, amount)
      if (entry === null) {
        takePeriod(this.#rows.words, half, -amount, null)
        return closed()
      }
      countHold(this.#rows.words, half, 1n)
      holds.push({ ...place, held: amount, booked: 0n, entry })
    }
    return null
  }

  #openNow(row: number, period: number): number | null {
    return openPeriod(this.#rows.words, row, period, this.#claimer, this.#rows.setBack)
  }

  #row({ counter, perUser }: Limit, user: string | null): NamedRow | null {
    if (perUser) return this.#rows.makeForUser(counter, user ?? '', this.#rowSize)
    const row = this.#rows.make(counter, this.#rowSize)
    return row === null ? null : { counter, row }
  }

  /** Counts end users of earlier processes against the limit on user rows, too. */
  #seededRow(name: string): number | null {
    const own = readUserCounter(name)
    if (own === null) return this.#rows.make(name, this.#rowSize)
    return this.#rows.makeForUser(own.counter, own.user, this.#rowSize)?.row ?? null
  }

  /** Null: it is held. Otherwise the use that leaves no room for it, read again until its figures agree with the refusal. */
  #take(place: HoldPlace, amount: bigint): PeriodUse | null {
    const { half, period, most } = place
    const bound = boundOf(place)
    if (this.#notify !== null) return this.#takeShared(place, amount, bound)
    for (let look = 1; ; look++) {
      if (takePeriod(this.#rows.words, half, amount, bound)) return null
      const use = readHalf(this.#rows.words, half, period.number)
      if (look === looks || BigInt(use.used + use.held) + amount > most) return use
    }
  }

  #takeShared(place: HoldPlace, amount: bigint, bound: bigint | null): PeriodUse | null {
    const { words } = this.#rows
    const { half, period, counter } = place
    const isTaken =
      bound === null
        ? takePeriod(words, half, amount, null)
        : takeAllowed(words, half, period.number, { amount, most: bound })
    if (!isTaken) return readShared(words, half, period.number)
    if (wantsMore(words, half, period.number)) this.#notify?.(this.#want(place, counter, 0n))
    return null
  }

  #read(half: number, number: number): PeriodUse {
    return this.#notify === null ? readHalf(this.#rows.words, half, number) : readShared(this.#rows.words, half, number)
  }

  #want({ limit, half, period, most }: Omit<HoldPlace, 'counter'>, counter: string, need: bigint): AllowanceWant {
    return { counter, period, half, most, need: Number(need), warns: limit.warns }
  }

  /** `more`: the part of `need` that could not be held. */
  #refuse(place: HoldPlace, need: bigint, use: PeriodUse, more: bigint): BudgetRefusal {
    const { limit, period, most } = place
    const want = this.#notify === null || limit.warns ? null : this.#want(place, place.counter, more)
    const why = whyRefused({ need, more, most, use, isCutOff: this.isCutOff })
    return { limit, period, need, most, use, want, why }
  }

  /** By the cluster's clock, if there is one. */
  #period({ period }: Limit, { timeZone, now }: Moment): BudgetPeriod {
    const ahead = this.#notify === null ? 0 : this.#rows.clockAhead
    return this.#periods.at(period ?? 'day', timeZone, now + ahead)
  }
}

const nothingUsed: PeriodUse = Object.freeze({ used: 0, held: 0, holders: 0 })

type HoldPlace = Pick<BudgetHold, 'limit' | 'counter' | 'half' | 'period' | 'most'>

/** A budget that only warns has no bound. */
const boundOf = ({ limit, most }: Pick<BudgetHold, 'limit' | 'most'>): bigint | null =>
  limit.warns ? null : BigInt(most)

export function amountOf({ kind }: Limit, { usd, tokens }: BudgetNeed): bigint {
  return kind === 'usd' ? usd : BigInt(Math.ceil(tokens))
}

/** For the journal: what is held and was booked before, or the actual cost. */
export function bookedOf(holds: readonly BudgetHold[], actual: BudgetNeed | null): BookedAmount[] {
  return holds.map(({ limit, counter, period, held, booked }) => {
    return [counter, period.name, Number(actual === null ? held + booked : amountOf(limit, actual))]
  })
}
