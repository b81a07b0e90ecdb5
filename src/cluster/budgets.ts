/**
 * A node's view of the budgets that nodes share. PostgreSQL divides each budget of each period: a node spends only its allowance, and all
 * allowances together never exceed the limit. Allowances do not expire, so neither clocks nor lost messages can break that. Pure: the clock
 * is an argument, and the caller transports the messages.
 */
export interface SharedBudget {
  counter: string
  /** `2026-11-23` or `2026-11`, with its start and end in epoch milliseconds. */
  period: { name: string; start: number; end: number }
  /** The limit for all nodes together; null: not known here yet. */
  most: number | null
  /** The number of the configuration change that `most` is from. */
  sequence: number
  /** The budget only warns: nothing is refused, and only spending is reported. */
  warns: boolean
}

/** Where a node counts one budget in one period: `AllowanceRow`. */
export interface BudgetPlace {
  /** Spent and held. */
  used(): number
  spent(): number
  allowance(): number
  /** Lowers the allowance, but not below what is used. Returns the new allowance. */
  lower(wanted: number): number
  raise(given: number, answer: { refill: number; othersSpent: number; othersHeld: number }): void
  wake(): void
  refuse(until: number, room: number): void
}

export interface BudgetAsk extends Omit<SharedBudget, 'period'> {
  period: string
  start: number
  end: number
  /** Numbers this node's asks for this budget: the one with the larger number is the newer. */
  number: number
  /** The node's whole allowance; anything above it is given back. */
  holds: number
  spent: number
  /** Recent spending per second. */
  rate: number
  /** What waiting requests need. */
  need: number
  /** Whether the node wants any more. */
  more: boolean
}

export interface BudgetReply {
  counter: string
  period: string
  number: number
  /** The whole allowance, not an increase. */
  given: number
  /** `spent` by other nodes, and what they hold. */
  spent: number
  held: number
  /** What no node holds. */
  room: number
}

interface Entry {
  budget: SharedBudget
  place: BudgetPlace
  number: number
  /** What requests need that wait for the next ask; `asked`: for the one in progress. */
  need: number
  asked: number
  /** `refills`: more is wanted in the background. `reports`: this node's state is to be reported. */
  refills: boolean
  reports: boolean
  /** Until then other nodes need what is unused here; it is given back from `backAt` on. */
  scarceUntil: number
  backAt: number
  /** Until then the missing amount is not asked for again. */
  notBefore: number
  hasWaited: boolean
  reportedAt: number
  reportedSpent: number
  pace: { at: number; used: number; rate: number }
}

/** How long a refusal is remembered, and how often unused amounts are given back while others need them. */
const pauseMs = 250
/** Time for other nodes to give something back. */
const recallMs = 40
const scarceMs = 1000
/** How often spending is reported, and for how many budgets at once. */
const reportMs = 5000
const mostReported = 200
const paceMs = 60_000
const never = Number.MAX_SAFE_INTEGER

export class NodeBudgets {
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  /** Budgets that requests wait for. */
  readonly #urgent = new Set<Entry>()

  /** `now`: epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#entries.size
  }

  /** `need`: of a waiting request; 0: half of the unused allowance is used up. */
  want(budget: SharedBudget, place: BudgetPlace, need: number): void {
    const entry = this.#enter(budget, place)
    entry.need += need
    if (need > 0) this.#urgent.add(entry)
    if (need === 0 && !budget.warns) entry.refills = true
    if (budget.warns) entry.reports = true
  }

  /** Another node has no room, and this one may have an unused allowance. */
  recall(counter: string, period: string): void {
    const entry = this.#entries.get(keyOf(counter, period))
    if (entry === undefined) return
    entry.scarceUntil = this.#now() + scarceMs
    entry.backAt = 0
    this.#urgent.add(entry)
  }

  /** The authority may not know this node's state: reports everything. */
  reportAll(): void {
    for (const entry of this.#entries.values()) entry.reports = true
  }

  /** Gives back everything that is unused. */
  releaseAll(): void {
    for (const entry of this.#entries.values()) {
      entry.place.lower(0)
      entry.reports = true
      entry.refills = false
    }
  }

  /** Restores a budget of which this node held an allowance before it restarted. */
  restore(budget: SharedBudget, place: BudgetPlace): void {
    this.#enter(budget, place).reports = true
  }

  /** The counter's place is used for another period now. */
  drop(counter: string, period: string): void {
    const key = keyOf(counter, period)
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#urgent.delete(entry)
    this.#entries.delete(key)
  }

  /** Forgets periods that are over. */
  forget(before: number): void {
    for (const [key, entry] of this.#entries)
      if (entry.budget.period.end < before) {
        this.#entries.delete(key)
        this.#urgent.delete(entry)
      }
  }

  /** When the next urgent ask is due; null: no request waits. */
  urgentAt(): number | null {
    if (this.#urgent.size === 0) return null
    return Math.min(...[...this.#urgent].map(({ notBefore }) => notBefore))
  }

  /**
   * The asks to send now, sorted: urgent ones, or all that are due. The caller reports their answers, or their loss, before the next call.
   */
  collect(which: 'urgent' | 'due'): BudgetAsk[] {
    const now = this.#now()
    const found: Entry[] = []
    let reported = 0
    for (const entry of which === 'urgent' ? this.#urgent : this.#entries.values()) {
      if (entry.notBefore > now && !entry.reports) continue
      const isNews =
        entry.reportedAt + reportMs <= now && entry.place.spent() !== entry.reportedSpent && reported++ < mostReported
      if (entry.need > 0 || entry.refills || entry.reports || isNews || releases(entry, now)) found.push(entry)
      this.#urgent.delete(entry)
    }
    return found.map((entry) => this.#ask(entry, now)).sort(byName)
  }

  receive(replies: readonly BudgetReply[]): void {
    for (const reply of replies) {
      const entry = this.#entries.get(keyOf(reply.counter, reply.period))
      // The answer to an earlier ask might include what has been given back since.
      if (entry !== undefined && reply.number === entry.number) this.#take(entry, reply)
    }
  }

  /** It is unknown whether the asks arrived: they are sent again, with new numbers. */
  lose(asks: readonly BudgetAsk[]): void {
    for (const { counter, period, more } of asks) {
      const entry = this.#entries.get(keyOf(counter, period))
      if (entry === undefined) continue
      entry.asked = 0
      entry.reports = true
      entry.refills ||= more
    }
  }

  #enter(budget: SharedBudget, place: BudgetPlace): Entry {
    const key = keyOf(budget.counter, budget.period.name)
    const known = this.#entries.get(key)
    if (known !== undefined) {
      if (budget.most !== null && budget.sequence >= known.budget.sequence) known.budget = budget
      return known
    }
    const entry: Entry = {
      ...{ budget, place, number: 0, need: 0, asked: 0, refills: false, reports: false, scarceUntil: 0 },
      ...{
        backAt: 0,
        notBefore: 0,
        hasWaited: false,
        reportedAt: 0,
        reportedSpent: 0,
        pace: { at: this.#now(), used: place.used(), rate: 0 },
      },
    }
    this.#entries.set(key, entry)
    return entry
  }

  #ask(entry: Entry, now: number): BudgetAsk {
    const { budget, place, need, refills } = entry
    const isScarce = entry.scarceUntil > now && need === 0
    if (isScarce) entry.backAt = now + pauseMs
    // Lowered before it is reported: from now on nobody can spend it.
    const holds = place.lower(budget.warns || isScarce ? 0 : place.allowance())
    const missing = need === 0 ? 0 : Math.max(1, need - (holds - place.used()))
    entry.number++
    entry.asked = need
    entry.need = 0
    entry.refills = entry.reports = false
    entry.reportedAt = now
    entry.reportedSpent = place.spent()
    const { period, ...named } = budget
    return {
      ...{ ...named, period: period.name, start: period.start, end: period.end, number: entry.number },
      ...{ holds, spent: entry.reportedSpent, rate: paceOf(entry, now), need: missing },
      more: !budget.warns && !isScarce && (need > 0 || refills),
    }
  }

  #take(entry: Entry, { given, spent, held, room }: BudgetReply): void {
    const { budget, place, asked } = entry
    const now = this.#now()
    const free = Math.max(0, given - place.used())
    const isScarce = room === 0 || entry.scarceUntil > now
    const refill = budget.warns ? never : isScarce ? given : given - free / 2
    place.raise(given, { refill, othersSpent: spent, othersHeld: held })
    entry.notBefore = 0
    entry.asked = 0
    if (asked === 0) return
    if (free < asked && !entry.hasWaited) {
      // Other nodes are asked to give back what they do not use.
      entry.hasWaited = true
      entry.need += asked
      entry.notBefore = now + recallMs
      this.#urgent.add(entry)
      return
    }
    entry.hasWaited = false
    if (free < asked) place.refuse(now + pauseMs, free + room)
    place.wake()
  }
}

function releases({ scarceUntil, backAt, place }: Entry, now: number): boolean {
  return scarceUntil > now && backAt <= now && place.allowance() > place.used()
}

const keyOf = (counter: string, period: string): string => `${period} ${counter}`

function byName(one: BudgetAsk, other: BudgetAsk): number {
  const [first, second] = [keyOf(one.counter, one.period), keyOf(other.counter, other.period)]
  return first < second ? -1 : first > second ? 1 : 0
}

function paceOf({ pace, place }: Entry, now: number): number {
  const seconds = (now - pace.at) / 1000
  if (seconds < 1) return pace.rate
  const used = place.used()
  const rate = Math.max(0, used - pace.used) / seconds
  if (seconds * 1000 >= paceMs) Object.assign(pace, { at: now, used, rate })
  return rate
}
