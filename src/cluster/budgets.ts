/**
 * Budgets that nodes share, as a node sees them. PostgreSQL divides each budget of each period: a node spends only what it was given,
 * and what all were given is never more than the limit. Nothing of it runs out by itself, so neither clocks nor lost messages can
 * break that. Pure: the clock is an argument, and whoever calls it carries the messages.
 */
export interface SharedBudget {
  counter: string
  /** `2026-11-23` or `2026-11`, with its begin and end in epoch milliseconds. */
  period: { name: string; start: number; end: number }
  /** The limit of all nodes together; null: not known here yet. */
  most: number | null
  /** Number of the change of the configuration that `most` is from. */
  sequence: number
  /** Nothing is refused; it is only known what all have spent. */
  warns: boolean
}

/** Where a node counts one budget in one period: `AllowanceRow`. */
export interface BudgetPlace {
  /** Spent and held. */
  used(): number
  spent(): number
  allowance(): number
  /** As far as what is used allows; returns what holds from here on. */
  lower(wanted: number): number
  raise(given: number, answer: { refill: number; othersSpent: number; othersHeld: number }): void
  wake(): void
  refuse(until: number, room: number): void
}

export interface BudgetAsk extends Omit<SharedBudget, 'period'> {
  period: string
  start: number
  end: number
  /** Counts the asks of this node and budget: of two, the one with the larger number holds. */
  number: number
  /** What this node has in hand, all told; what it had more is given back. */
  holds: number
  spent: number
  /** A second, lately. */
  rate: number
  /** Of requests that wait. */
  need: number
  /** Whether anything is wanted at all. */
  more: boolean
}

export interface BudgetReply {
  counter: string
  period: string
  number: number
  /** In all, not in addition. */
  given: number
  /** By other nodes; and what those have in hand. */
  spent: number
  held: number
  /** What nobody has. */
  room: number
}

interface Entry {
  budget: SharedBudget
  place: BudgetPlace
  number: number
  /** Of requests that wait for the next ask, and for the one under way. */
  need: number
  asked: number
  /** More is wanted in the background, or what is here is to be told. */
  refills: boolean
  reports: boolean
  /** Others look for what is free here, until then; it goes back from `backAt` on. */
  scarceUntil: number
  backAt: number
  /** Before that it is not asked again for what was short. */
  notBefore: number
  hasWaited: boolean
  reportedAt: number
  reportedSpent: number
  pace: { at: number; used: number; rate: number }
}

/** So long a refusal is remembered; and so often what is free goes back while others look for it. */
const pauseMs = 250
/** For what others give back. */
const recallMs = 40
const scarceMs = 1000
/** What was spent is told so often, of so many budgets at once. */
const reportMs = 5000
const mostReported = 200
const paceMs = 60_000
const never = Number.MAX_SAFE_INTEGER

export class NodeBudgets {
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()
  /** For which somebody waits. */
  readonly #urgent = new Set<Entry>()

  /** `now`: epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#entries.size
  }

  /** `need` of a request that waits; 0: half of what was here is used. */
  want(budget: SharedBudget, place: BudgetPlace, need: number): void {
    const entry = this.#enter(budget, place)
    entry.need += need
    if (need > 0) this.#urgent.add(entry)
    if (need === 0 && !budget.warns) entry.refills = true
    if (budget.warns) entry.reports = true
  }

  /** Some node has no room, and this one may have some that it does not need. */
  recall(counter: string, period: string): void {
    const entry = this.#entries.get(keyOf(counter, period))
    if (entry === undefined) return
    entry.scarceUntil = this.#now() + scarceMs
    entry.backAt = 0
    this.#urgent.add(entry)
  }

  /** The authority may not know what is here: all of it is told. */
  reportAll(): void {
    for (const entry of this.#entries.values()) entry.reports = true
  }

  /** Whoever asks next is given all that is not used here. */
  releaseAll(): void {
    for (const entry of this.#entries.values()) {
      entry.place.lower(0)
      entry.reports = true
      entry.refills = false
    }
  }

  /** What was once held of a budget by this node, before it ended and began again. */
  restore(budget: SharedBudget, place: BudgetPlace): void {
    this.#enter(budget, place).reports = true
  }

  /** Its place is another period's by now. */
  drop(counter: string, period: string): void {
    const key = keyOf(counter, period)
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#urgent.delete(entry)
    this.#entries.delete(key)
  }

  /** Periods that are over are nobody's concern any more. */
  forget(before: number): void {
    for (const [key, entry] of this.#entries)
      if (entry.budget.period.end < before) {
        this.#entries.delete(key)
        this.#urgent.delete(entry)
      }
  }

  /** When somebody waits for the next ask; null: nobody does. */
  urgentAt(): number | null {
    if (this.#urgent.size === 0) return null
    return Math.min(...[...this.#urgent].map(({ notBefore }) => notBefore))
  }

  /** What is to be asked now, sorted: for whom somebody waits, or whatever is due. It is answered, or lost, before the next. */
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
      // An answer to an earlier question may give what has gone back since.
      if (entry !== undefined && reply.number === entry.number) this.#take(entry, reply)
    }
  }

  /** Nobody knows whether it was heard: it is asked again, with another number. */
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
    // Lowered before it is told: from here on nobody spends it.
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
      // What others have in hand and do not need comes back meanwhile.
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
