import type { BookedAmount, SettledHold } from '../../core/journal-format.ts'
import { type Limit, limitAt } from '../../core/policy-limits.ts'
import type { HoldLedger } from './hold-ledger.ts'
import { type LimitRows, type NamedRow, readUserCounter } from './limit-memory.ts'
import {
  addHeld,
  addSettled,
  countHold,
  endClaim,
  halfOf,
  openPeriod,
  type PeriodUse,
  periodSize,
  readHalf,
  settlePeriod,
  spendHold,
  takePeriod,
} from './period-row.ts'
import { type BudgetPeriod, Periods, readPeriodName } from './periods.ts'

/** What a request may come to, or came to. */
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
  /** The limit when it was taken, with what was granted on top of it. */
  most: number
  entry: number
}

export interface BudgetRefusal {
  limit: Limit
  period: BudgetPeriod
  need: bigint
  /** The limit at this moment, with what is granted on top of it. */
  most: number
  use: PeriodUse
  /** `closed`: what was spent before the process began is not counted yet. `held`: running requests hold what is missing. */
  why: 'closed' | 'held' | 'spent'
}

/** More is held than before, or all of it was held already. */
export interface RaisedBudgets {
  more: boolean
}

/** Where and when: budgets follow the workspace's calendar. */
export interface Moment {
  timeZone: string
  /** Epoch milliseconds. */
  now: number
}

const tries = 3
/** Times that room may come back just after there was none. */
const looks = 100

/** Budgets: held before a request is sent, settled from what it came to. */
export class BudgetCounters {
  readonly #rows: LimitRows
  readonly #ledger: HoldLedger
  readonly #claimer: { column: number; note(half: number): void }
  readonly #periods = new Periods()

  constructor(rows: LimitRows, ledger: HoldLedger, column: number) {
    this.#rows = rows
    this.#ledger = ledger
    this.#claimer = { column, note: (half) => ledger.claiming(half) }
  }

  /** Holds all or nothing; `holds` then has them. Null: done. */
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
      this.settle(holds, { usd: 0n, tokens: 0 })
      if (refusal.why !== 'held' || attempt === tries) return refusal
    }
  }

  /** Holds more where less is held. A refusal leaves what was held as it was. */
  raise(holds: readonly BudgetHold[], need: BudgetNeed, now: number): RaisedBudgets | BudgetRefusal {
    const raised: { hold: BudgetHold; more: bigint }[] = []
    for (const hold of holds) {
      const more = amountOf(hold.limit, need) - hold.held
      if (more <= 0n) continue
      const most = limitAt(hold.limit, now)
      const use = this.#take({ ...hold, most }, more)
      if (use === null) {
        raised.push({ hold, more })
        continue
      }
      for (const done of raised) takePeriod(this.#rows.words, done.hold.half, -done.more, null)
      return refuse({ ...hold, most }, hold.held + more, use)
    }
    for (const { hold, more } of raised) {
      hold.held += more
      this.#ledger.change(hold.entry, hold.held)
    }
    return { more: raised.length > 0 }
  }

  /** Books what it came to, and releases what was held. */
  settle(holds: BudgetHold[], actual: BudgetNeed): void {
    for (const { limit, period, half, held, entry } of holds.splice(0)) {
      this.#ledger.close(entry)
      settlePeriod(this.#rows.words, { half, period: period.number, held, actual: amountOf(limit, actual) })
    }
  }

  /** A batch goes on holding it, whatever becomes of this thread. */
  keep(holds: BudgetHold[]): void {
    for (const { entry } of holds.splice(0)) this.#ledger.close(entry)
  }

  /** What batches held, and came to. */
  settleKept(settled: readonly SettledHold[]): void {
    // What is told before is among what is seeded.
    if (!this.#rows.seeded) return
    for (const { counter, period, held, actual } of settled) {
      const row = this.#rows.find(counter)
      if (row === null) continue
      const { number } = readPeriodName(period)
      const place = { half: halfOf(row, number), period: number }
      settlePeriod(this.#rows.words, { ...place, held: BigInt(held), actual: BigInt(actual) })
    }
  }

  /** What a dead thread held. */
  spend(half: number, held: bigint): void {
    spendHold(this.#rows.words, half, held)
  }

  /** A dead thread may have been opening a period. */
  endClaim(half: number, column: number): void {
    endClaim(this.#rows.words, half, column)
  }

  /** What the store has of the periods of now; `held`: of batches. Before that, budgets let nothing pass. */
  seed(used: Iterable<BookedAmount>, held: Iterable<BookedAmount>): void {
    if (this.#rows.seeded) return
    for (const booked of used) this.#addSeeded(booked, addSettled)
    for (const booked of held) this.#addSeeded(booked, addHeld)
    this.#rows.seed()
  }

  #addSeeded([counter, name, amount]: BookedAmount, add: typeof addSettled): void {
    const row = this.#seededRow(counter)
    const half = row === null ? null : openPeriod(this.#rows.words, row, readPeriodName(name).number, this.#claimer)
    if (half !== null) add(this.#rows.words, half, BigInt(amount))
  }

  use(limit: Limit, user: string | null, moment: Moment): PeriodUse & { resetsAt: number } {
    const period = this.#period(limit, moment)
    const { counter, perUser } = limit
    const row = perUser ? this.#rows.findForUser(counter, user ?? '') : this.#rows.find(counter)
    const use =
      row === null
        ? { used: 0, held: 0, holders: 0 }
        : readHalf(this.#rows.words, halfOf(row, period.number), period.number)
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
      const closed: BudgetRefusal = {
        limit,
        period,
        need: amount,
        most,
        use: { used: 0, held: 0, holders: 0 },
        why: 'closed',
      }
      if (!this.#rows.seeded) return closed
      if (most === 0 && !limit.warns) return { ...closed, why: 'spent' }
      const row = this.#row(limit, user)
      const half = row === null ? null : openPeriod(this.#rows.words, row.row, period.number, this.#claimer)
      if (row === null || half === null) return closed
      const use = this.#take({ limit, half, period, most }, amount)
      if (use !== null) return refuse({ limit, period, most }, amount, use)
      const entry = this.#ledger.open(-half, amount)
      if (entry === null) {
        takePeriod(this.#rows.words, half, -amount, null)
        return closed
      }
      countHold(this.#rows.words, half, 1n)
      holds.push({ limit, counter: row.counter, period, half, held: amount, most, entry })
    }
    return null
  }

  #row({ counter, perUser }: Limit, user: string | null): NamedRow | null {
    if (perUser) return this.#rows.makeForUser(counter, user ?? '', periodSize)
    const row = this.#rows.make(counter, periodSize)
    return row === null ? null : { counter, row }
  }

  /** As for whoever counts there, so that end users of earlier processes are among those that are counted. */
  #seededRow(name: string): number | null {
    const own = readUserCounter(name)
    if (own === null) return this.#rows.make(name, periodSize)
    return this.#rows.makeForUser(own.counter, own.user, periodSize)?.row ?? null
  }

  /** Null: it is held. Else what leaves no room for it: a refusal whose own figures show room would be none. */
  #take({ limit, half, period, most }: Pick<BudgetHold, 'limit' | 'half' | 'period' | 'most'>, amount: bigint) {
    const bound = boundOf({ limit, most })
    for (let look = 1; ; look++) {
      if (takePeriod(this.#rows.words, half, amount, bound)) return null
      const use = readHalf(this.#rows.words, half, period.number)
      if (look === looks || BigInt(use.used + use.held) + amount > most) return use
    }
  }

  #period({ period }: Limit, { timeZone, now }: Moment): BudgetPeriod {
    return this.#periods.at(period ?? 'day', timeZone, now)
  }
}

function refuse(
  { limit, period, most }: Pick<BudgetHold, 'limit' | 'period' | 'most'>,
  need: bigint,
  use: PeriodUse,
): BudgetRefusal {
  const why = Number(need) > most - use.used || most === 0 ? 'spent' : 'held'
  return { limit, period, need, most, use, why }
}

/** A budget that only warns counts and refuses nothing. */
const boundOf = ({ limit, most }: Pick<BudgetHold, 'limit' | 'most'>): bigint | null =>
  limit.warns ? null : BigInt(most)

export function amountOf({ kind }: Limit, { usd, tokens }: BudgetNeed): bigint {
  return kind === 'usd' ? usd : BigInt(Math.ceil(tokens))
}

/** For the journal: what is held, or what it came to. */
export function bookedOf(holds: readonly BudgetHold[], actual: BudgetNeed | null): BookedAmount[] {
  return holds.map(({ limit, counter, period, held }) => {
    return [counter, period.name, Number(actual === null ? held : amountOf(limit, actual))]
  })
}
