import { setTimeout as wait } from 'node:timers/promises'
import type { SpentBudget } from '../../admin/handlers/context.ts'
import type { HeldBudget } from '../../cluster/budget-questions.ts'
import { NodeBudgets, type SharedBudget } from '../../cluster/budgets.ts'
import type { ClusterNode } from '../../cluster/node.ts'
import { notYet, removed } from '../../cluster/troubles.ts'
import type { BookedAmount } from '../../core/journal-format.ts'
import type { AllowanceWant } from '../../policy/limits/allowance.ts'
import { AllowanceRow } from '../../policy/limits/allowance-row.ts'
import type { LimitCounters } from '../../policy/limits/limit-counters.ts'
import { type LimitMemory, LimitRows } from '../../policy/limits/limit-memory.ts'
import type { StoreClient } from '../../store/api.ts'
import type { Log } from '../log.ts'

export interface SharedBudgetsParts {
  node: ClusterNode
  counters: LimitCounters
  memory: LimitMemory
  log: Log
  store: Pick<StoreClient, 'spend'>
  /** Counters whose use people and alerts look at, also where this node counts nothing in them. */
  watched(): string[]
}

const tickMs = 250
/** For so long a start waits for a PostgreSQL that says nothing. */
const settleMs = 3000
const watchMs = 5000
/** Rather than after each answer, whose way took a while. */
const clockStepMs = 250
const forgetAfterMs = 86_400_000
const forgetEveryMs = 3_600_000

/**
 * Carries what threads want of budgets to PostgreSQL, and what it gives into their memory. One question at a time; what comes
 * meanwhile goes with the next. While this gateway is no member of a cluster, all of every budget is its own.
 */
export class SharedBudgets {
  readonly #node: ClusterNode
  readonly #counters: LimitCounters
  readonly #rows: LimitRows
  readonly #log: Log
  readonly #store: SharedBudgetsParts['store']
  readonly #watched: () => string[]
  readonly #budgets = new NodeBudgets(() => Date.now())
  readonly #places = new Map<number, { row: AllowanceRow; counter: string; period: string }>()
  /** PostgreSQL has heard for the first time what is here, or cannot be asked. */
  readonly #settled = Promise.withResolvers<void>()
  #ticking: NodeJS.Timeout | null = null
  #soon: NodeJS.Timeout | null = null
  #asking: Promise<void> | null = null
  /** All that is here is to be told: PostgreSQL may have forgotten it, or this gateway what it was given. */
  #reportsAll = true
  #meetings = 0
  #isRestored = false
  /** What is here was given by nobody. */
  #wasAlone = false
  /** Both by a clock that nobody sets. */
  #watchAt = Number.NEGATIVE_INFINITY
  #forgetAt = performance.now() + forgetEveryMs

  constructor({ node, counters, memory, log, store, watched }: SharedBudgetsParts) {
    this.#store = store
    this.#node = node
    this.#counters = counters
    this.#rows = new LimitRows(memory)
    this.#log = log
    this.#watched = watched
  }

  /** Resolves when this node can be given parts of budgets, or it is known that it cannot for now. */
  async start(): Promise<void> {
    this.#ticking = setInterval(() => this.#tick(), tickMs)
    this.noteCut()
    if (this.#node.state !== null)
      await Promise.race([this.#settled.promise, wait(settleMs, undefined, { ref: false })])
  }

  stop(): void {
    if (this.#ticking !== null) clearInterval(this.#ticking)
    if (this.#soon !== null) clearTimeout(this.#soon)
  }

  want({ counter, period, half, most, need, warns }: AllowanceWant): void {
    const budget = { counter, period, most, warns, sequence: this.#node.published }
    const place = this.#placeAt(half, { counter, ...period })
    this.#budgets.want(budget, place, need)
    if (this.#node.state === null) this.#giveAll(budget, place)
    else if (need > 0) this.#pump('urgent')
  }

  /** PostgreSQL hears at once what counts as spent here besides requests: until then others may be given it. */
  report(spent: readonly SpentBudget[]): void {
    for (const { counter, period } of spent) this.#enter(counter, period)
    this.#pump('due')
  }

  recall(counter: string, period: string): void {
    this.#budgets.recall(counter, period)
    this.#pump('urgent')
  }

  /** PostgreSQL is there, for the first time or again. */
  met(): void {
    this.#reportsAll = true
    this.#meetings++
    if (this.#wasAlone) this.#budgets.releaseAll()
    this.#wasAlone = false
    this.noteCut()
    this.#pump('due')
  }

  /** Whether anybody is there who could give more. */
  noteCut(): void {
    const { state, trouble } = this.#node
    this.#rows.cutOff = state !== null && trouble !== null
    // What it was given is not its own any more: it may have gone to others.
    if (trouble === removed) this.#budgets.releaseAll()
    if (this.#rows.cutOff && trouble !== notYet) this.#settled.resolve()
  }

  /** Before this gateway leaves: only what it spent, or still holds, stays its own. */
  async releaseBudgets(): Promise<void> {
    await this.#asking
    this.#budgets.releaseAll()
    this.#pump('due')
    await this.#asking
  }

  /** What other nodes spent counts here from now on: this gateway is one alone. */
  takeSpent(spent: readonly BookedAmount[]): void {
    for (const booked of spent) this.#counters.addUsed(booked)
    for (const { row } of this.#places.values()) row.note(0, 0)
  }

  #placeAt(half: number, { counter, name, number }: { counter: string; name: string; number: number }): AllowanceRow {
    const known = this.#places.get(half)
    if (known?.row.number === number) return known.row
    if (known !== undefined) this.#budgets.drop(known.counter, known.period)
    this.#rows.follow()
    const row = new AllowanceRow(this.#rows.words, half, number)
    this.#places.set(half, { row, counter, period: name })
    return row
  }

  /** Nobody shares it. */
  #giveAll({ most }: SharedBudget, place: AllowanceRow): void {
    this.#wasAlone = true
    const all = Math.max(most ?? 0, place.used())
    place.raise(all, { refill: Number.MAX_SAFE_INTEGER, othersSpent: 0, othersHeld: 0 })
    place.wake()
  }

  #tick(): void {
    this.noteCut()
    if (performance.now() >= this.#forgetAt) {
      this.#forgetAt = performance.now() + forgetEveryMs
      this.#budgets.forget(Date.now() - forgetAfterMs)
    }
    this.#pump('due')
  }

  #pump(which: 'urgent' | 'due'): void {
    if (this.#asking !== null || this.#node.state === null || this.#node.trouble !== null) return
    // What earlier processes spent is not counted yet: until it is, nothing can be said of it.
    if (!this.#rows.seeded) return
    this.#asking = this.#ask(which)
      .then(() => this.#watch())
      .catch((error: unknown) => this.#log.warn('budgets were not asked for', { reason: String(error) }))
      .finally(() => {
        this.#asking = null
        this.#pumpSoon()
      })
  }

  /** For whoever waits. */
  #pumpSoon(): void {
    const at = this.#budgets.urgentAt()
    if (at === null) return
    if (this.#soon !== null) clearTimeout(this.#soon)
    this.#soon = setTimeout(() => this.#pump('urgent'), Math.max(0, at - Date.now()))
  }

  async #ask(which: 'urgent' | 'due'): Promise<void> {
    const { link, self } = this.#node
    const [complete, meeting] = [this.#reportsAll, this.#meetings]
    if (complete && !this.#isRestored) await this.#restore()
    if (complete) this.#budgets.reportAll()
    const asks = this.#budgets.collect(complete ? 'due' : which)
    if (asks.length === 0 && !complete) return
    const begun = Date.now()
    try {
      const { member, now, replies } = await link.ask('allow', { ...self, complete, asks })
      if (!member) return this.#budgets.lose(asks)
      // PostgreSQL may have been lost and met again meanwhile.
      if (meeting === this.#meetings) this.#reportsAll = false
      this.#setClock(now, begun)
      this.#budgets.receive(replies)
      this.#settled.resolve()
    } catch (error) {
      this.#budgets.lose(asks)
      // What is away is told by the connection.
      if (this.#node.trouble === null) throw error
    }
  }

  /** What this node was given before it began: now it says how much of that it spent. */
  async #restore(): Promise<void> {
    const { link, self } = this.#node
    const held = await link.ask('held-budgets', self)
    await this.#makeUp(held)
    for (const { counter, period: name, start, end } of held) this.#enter(counter, { name, start, end })
    this.#isRestored = true
  }

  /** A data directory that was restored knows less than what this node told before: what was spent stays spent. */
  async #makeUp(held: readonly HeldBudget[]): Promise<void> {
    const forgotten = held.flatMap(({ counter, period, spent }): BookedAmount[] => {
      const amount = spent - this.#counters.spentHere(counter, period)
      return amount > 0 ? [[counter, period, amount]] : []
    })
    if (forgotten.length === 0) return
    await this.#store.spend.add(forgotten)
    for (const booked of forgotten) this.#counters.addUsed(booked)
    const message =
      'this data directory knows less of budgets than this node has told the cluster: that counts as spent'
    this.#log.warn(message, { budgets: forgotten.length })
  }

  /** What is here of it is to be told; what the limit is nobody has said yet. */
  #enter(counter: string, period: SharedBudget['period']): void {
    const { name } = period
    const found = this.#counters.findPeriod(counter, name)
    if (found === null) return
    const budget = { counter, period, most: null, sequence: 0, warns: false }
    this.#budgets.restore(budget, this.#placeAt(found.half, { counter, name, number: found.number }))
  }

  /** What others have spent of what this node may never be asked for. */
  async #watch(): Promise<void> {
    if (performance.now() < this.#watchAt || this.#node.trouble !== null) return
    this.#watchAt = performance.now() + watchMs
    const { link, self } = this.#node
    const counters = this.#watched()
    if (counters.length === 0) return
    for (const { counter, period, spent, held } of await link.ask('budget-use', { ...self, counters })) {
      const found = this.#counters.findPeriod(counter, period)
      if (found === null) continue
      this.#placeAt(found.half, { counter, name: period, number: found.number }).note(spent, held)
    }
  }

  #setClock(now: number, begun: number): void {
    const ahead = now - (begun + Date.now()) / 2
    if (Math.abs(ahead - this.#rows.clockAhead) > clockStepMs) this.#rows.clockAhead = ahead
  }
}
