import type { BookedAmount } from '../../core/journal-format.ts'
import { type Limit, limitAt } from '../../core/policy-limits.ts'
import type { HoldLedger } from './hold-ledger.ts'
import { type LimitRows, userCounter } from './limit-memory.ts'
import {
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

/** Where and when: budgets follow the workspace's calendar. */
export interface Moment {
  timeZone: string
  /** Epoch milliseconds. */
  now: number
}

const tries = 3

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
  raise(holds: readonly BudgetHold[], need: BudgetNeed): BudgetRefusal | null {
    const raised: { hold: BudgetHold; more: bigint }[] = []
    for (const hold of holds) {
      const more = amountOf(hold.limit, need) - hold.held
      if (more <= 0n) continue
      if (takePeriod(this.#rows.words, hold.half, more, boundOf(hold))) {
        raised.push({ hold, more })
        continue
      }
      for (const done of raised) takePeriod(this.#rows.words, done.hold.half, -done.more, null)
      return this.#refuse(hold, hold.held + more)
    }
    for (const { hold, more } of raised) {
      hold.held += more
      this.#ledger.change(hold.entry, hold.held)
    }
    return null
  }

  /** Books what it came to, and releases what was held. */
  settle(holds: BudgetHold[], actual: BudgetNeed): void {
    for (const { limit, period, half, held, entry } of holds.splice(0)) {
      this.#ledger.close(entry)
      settlePeriod(this.#rows.words, { half, period: period.number, held, actual: amountOf(limit, actual) })
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

  /** What the store has of the periods of now. Before that, budgets let nothing pass. */
  seed(spent: Iterable<BookedAmount>): void {
    if (this.#rows.seeded) return
    for (const [counter, name, amount] of spent) {
      const row = this.#rows.make(counter, periodSize)
      const half = row === null ? null : openPeriod(this.#rows.words, row, readPeriodName(name).number, this.#claimer)
      if (half !== null) addSettled(this.#rows.words, half, BigInt(amount))
    }
    this.#rows.seed()
  }

  use(limit: Limit, user: string | null, moment: Moment): PeriodUse & { resetsAt: number } {
    const period = this.#period(limit, moment)
    const row = this.#rows.find(counterOf(limit, user))
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
      const counter = counterOf(limit, user)
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
      const row = limit.perUser
        ? this.#rows.makeForUser(limit.counter, user ?? '', periodSize)
        : this.#rows.make(counter, periodSize)
      const half = row === null ? null : openPeriod(this.#rows.words, row, period.number, this.#claimer)
      if (half === null) return closed
      if (!takePeriod(this.#rows.words, half, amount, boundOf({ limit, most })))
        return this.#refuse({ limit, half, period, most }, amount)
      const entry = this.#ledger.open(-half, amount)
      if (entry === null) {
        takePeriod(this.#rows.words, half, -amount, null)
        return closed
      }
      countHold(this.#rows.words, half, 1n)
      holds.push({ limit, counter, period, half, held: amount, most, entry })
    }
    return null
  }

  #refuse(
    { limit, half, period, most }: Pick<BudgetHold, 'limit' | 'half' | 'period' | 'most'>,
    need: bigint,
  ): BudgetRefusal {
    const use = readHalf(this.#rows.words, half, period.number)
    const why = Number(need) > most - use.used || most === 0 ? 'spent' : 'held'
    return { limit, period, need, most, use, why }
  }

  #period({ period }: Limit, { timeZone, now }: Moment): BudgetPeriod {
    return this.#periods.at(period ?? 'day', timeZone, now)
  }
}

function counterOf({ counter, perUser }: Limit, user: string | null): string {
  return perUser ? userCounter(counter, user ?? '') : counter
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
