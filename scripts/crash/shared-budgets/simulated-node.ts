import { type BudgetAsk, type BudgetPlace, NodeBudgets, type SharedBudget } from '../../../src/cluster/budgets.ts'
import type { Random } from '../random.ts'
import type { AllowAnswer, BudgetAuthority } from './authority.ts'
import type { Events } from './events.ts'

export interface NodeRules {
  /** What is given back is no longer spent before anybody hears of it. */
  lowersFirst: boolean
  /** Only the answer to the last ask counts. */
  onlyLast: boolean
  /** A node that comes back says what its journal has. */
  readsJournal: boolean
}

export interface Counts {
  requests: number
  refused: number
  /** Although there was room for it, with whomever. */
  refusedWithRoom: number
  waited: number
  calls: number
  overspent: number
}

/** What all nodes of a simulation share. */
export interface World {
  events: Events
  random: Random
  authority: BudgetAuthority
  rules: NodeRules
  counts: Counts
  budget: SharedBudget
  /** Nobody may hold or have spent more than the budget, all together. */
  check(): void
  room(): number
  recall(key: string, from: string): void
  faults: { lost: number; delayed: number }
}

const waitMs = 100
const tickMs = 250
const callMs = 1000

class SimulatedPlace implements BudgetPlace {
  whole = 0
  settled = 0
  given = 0
  refill = 0
  asked = false
  refusedUntil = 0
  left = 0
  readonly waiting = new Set<() => void>()
  /** Left out of a node that does not lower what it gives back. */
  #back: number | null = null
  readonly #lowersFirst: boolean

  constructor(lowersFirst: boolean) {
    this.#lowersFirst = lowersFirst
  }

  used = () => this.whole
  spent = () => this.settled
  allowance = () => this.given

  lower(wanted: number): number {
    const holds = Math.max(this.whole, wanted)
    if (this.#lowersFirst) this.given = holds
    else this.#back = holds
    return this.#back ?? holds
  }

  raise(given: number, { refill }: { refill: number }): void {
    this.given = given
    this.#back = null
    this.refill = refill
    this.asked = false
  }

  wake(): void {
    for (const look of this.waiting) look()
  }

  refuse(until: number, room: number): void {
    this.refusedUntil = until
    this.left = room
  }
}

/** One node under traffic, with the very module that nodes run. */
export class SimulatedNode {
  readonly name: string
  readonly #world: World
  #life = 0
  #place: SimulatedPlace
  #budgets: NodeBudgets
  #isUnderWay = 0
  #reportsAll = true
  #connection = 0
  isUp = true
  isCut = false

  constructor(name: string, world: World) {
    this.name = name
    this.#world = world
    this.#place = new SimulatedPlace(world.rules.lowersFirst)
    this.#budgets = new NodeBudgets(() => world.events.now)
    world.authority.meet(name, this.#lifeName)
  }

  get used(): number {
    return this.#place.whole
  }

  start(): void {
    const life = this.#life
    const tick = () => {
      if (!this.isUp || this.#life !== life) return
      this.#pump('due')
      this.#world.events.after(tickMs, tick)
    }
    this.#world.events.after(this.#world.random.between(0, tickMs), tick)
  }

  /** Holds what it may come to, waits where it must, and settles `cost` of it. */
  request(hold: number, cost: number, ms: number): void {
    if (!this.isUp) return
    const { events, counts, budget } = this.#world
    counts.requests++
    const life = this.#life
    const place = this.#place
    if (this.#take(hold)) return this.#run(life, hold, cost, ms)
    const until = events.now + waitMs
    let isOver = false
    const end = () => {
      isOver = true
      place.waiting.delete(look)
    }
    const look = () => {
      if (isOver || this.#life !== life) return
      if (this.#take(hold)) {
        end()
        return this.#run(life, hold, cost, ms)
      }
      const isKnown = place.refusedUntil > events.now && place.left < hold
      if (!isKnown && events.now < until) return this.#want(hold)
      end()
      counts.refused++
      if (this.#world.room() >= hold) counts.refusedWithRoom++
    }
    if (place.refusedUntil > events.now && place.left < hold) return look()
    counts.waited++
    place.waiting.add(look)
    this.#budgets.want(budget, place, hold)
    this.#pump('urgent')
    events.after(waitMs, look)
  }

  die(): void {
    this.isUp = false
    this.#life++
    // What was held is charged: that is what the journal says when the node comes back.
    this.#place.settled = this.#place.whole
    this.#place.waiting.clear()
  }

  comeBack(): void {
    const { rules, events, budget } = this.#world
    const { whole } = this.#place
    this.#place = new SimulatedPlace(rules.lowersFirst)
    this.#place.whole = this.#place.settled = rules.readsJournal ? whole : 0
    this.#forgotten += rules.readsJournal ? 0 : whole
    this.#budgets = new NodeBudgets(() => events.now)
    this.#budgets.restore(budget, this.#place)
    this.#isUnderWay = 0
    this.#reportsAll = true
    this.isUp = true
    this.start()
  }

  /** Spent, and no longer known to the node: only where it does not read its journal. */
  #forgotten = 0

  get spentInTruth(): number {
    return this.#place.whole + this.#forgotten
  }

  /** Its connection broke. */
  reconnect(): void {
    this.#reportsAll = true
    this.#connection++
  }

  recall(key: string): void {
    if (!this.isUp || this.isCut) return
    const [period = '', ...counter] = key.split(' ')
    this.#budgets.recall(counter.join(' '), period)
    this.#pump('urgent')
  }

  get #lifeName(): string {
    return `${this.#life}`
  }

  #want(need: number): void {
    this.#budgets.want(this.#world.budget, this.#place, need)
    this.#pump('urgent')
  }

  #take(hold: number): boolean {
    const place = this.#place
    if (place.whole + hold > place.given) return false
    place.whole += hold
    this.#world.check()
    if (place.whole > place.refill && !place.asked) {
      place.asked = true
      this.#budgets.want(this.#world.budget, place, 0)
    }
    return true
  }

  #run(life: number, hold: number, cost: number, ms: number): void {
    const place = this.#place
    this.#world.events.after(ms, () => {
      if (this.#life !== life) return
      place.whole += cost - hold
      place.settled += cost
    })
  }

  #pump(which: 'urgent' | 'due'): void {
    const { events, counts } = this.#world
    if (!this.isUp || this.#isUnderWay !== 0) return
    const complete = this.#reportsAll
    if (complete) this.#budgets.reportAll()
    const asks = this.#budgets.collect(complete ? 'due' : which)
    if (asks.length === 0 && !complete) return
    counts.calls++
    const call = events.now + 1
    this.#isUnderWay = call
    const [life, budgets, connection] = [this.#life, this.#budgets, this.#connection]
    const isMine = () => this.#life === life && this.#budgets === budgets
    this.#send(asks, complete, (answer) => {
      if (!isMine()) return
      if (complete && answer.member && this.#connection === connection) this.#reportsAll = false
      const { onlyLast } = this.#world.rules
      budgets.receive(
        onlyLast ? answer.replies : answer.replies.map((reply) => ({ ...reply, number: this.#number(asks) })),
      )
      if (this.#isUnderWay !== call) return
      this.#isUnderWay = 0
      this.#pumpLater()
    })
    events.after(callMs, () => {
      if (!isMine() || this.#isUnderWay !== call) return
      this.#isUnderWay = 0
      budgets.lose(asks)
    })
  }

  #last = 0
  #number(asks: readonly BudgetAsk[]): number {
    return Math.max(this.#last, ...asks.map(({ number }) => number))
  }

  #pumpLater(): void {
    const at = this.#budgets.urgentAt()
    if (at === null) return
    const { events } = this.#world
    events.after(Math.max(0, at - events.now), () => this.#pump('urgent'))
  }

  /** There and back, on a network that loses and delays. */
  #send(asks: BudgetAsk[], complete: boolean, receive: (answer: AllowAnswer) => void): void {
    const { events, random, authority, faults, recall } = this.#world
    this.#last = Math.max(this.#last, ...asks.map(({ number }) => number))
    const [life, { timeline }] = [this.#lifeName, authority.state]
    const way = (run: () => void) => {
      if (this.isCut || random.chance(faults.lost)) return
      events.after(random.chance(faults.delayed) ? random.between(500, 5000) : random.between(1, 6), run)
    }
    way(() => {
      // What was under way to one server never comes to the one that takes its place.
      if (authority.state.timeline !== timeline) return
      const known = authority.state.members.get(this.name)?.life
      // As `meet` does when a connection is made: a new life takes the place of the old one.
      if (complete && Number(life) > Number(known)) authority.meet(this.name, life)
      const answer = authority.allow(this.name, life, complete, asks, events.now)
      for (const key of answer.recalls) recall(key, this.name)
      way(() => receive(answer))
    })
  }
}
