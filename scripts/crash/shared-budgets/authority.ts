import type { BudgetAsk, BudgetReply } from '../../../src/cluster/budgets.ts'

/** What `spgw.allow` of src/cluster/budget-schema.ts does, in memory: a test holds the two to be the same. */
export interface AuthorityRules {
  /** What all were given is never more than the limit. */
  bounded: boolean
  /** An ask that comes after a later one of the same node is passed over. */
  numbered: boolean
  /** After a failover nothing is given before all have told what they have. */
  declared: boolean
  /** What a node was given stays given while nothing is heard of it. */
  lasting: boolean
}

export const allRules: AuthorityRules = { bounded: true, numbered: true, declared: true, lasting: true }

interface Share {
  life: string
  number: number
  given: number
  spent: number
  rate: number
  heardAt: number
}

interface Budget {
  most: number | null
  sequence: number
  recalledAt: number
  shares: Map<string, Share>
}

export interface AuthorityState {
  budgets: Map<string, Budget>
  members: Map<string, { life: string; declared: string }>
  timeline: string
  settled: string
}

/** `recalls`: what the others are to give back, as `period counter`. */
export interface AllowAnswer {
  member: boolean
  replies: BudgetReply[]
  recalls: string[]
}

export class BudgetAuthority {
  readonly #rules: AuthorityRules
  state: AuthorityState = { budgets: new Map(), members: new Map(), timeline: '1', settled: '1' }

  constructor(rules: AuthorityRules = allRules) {
    this.#rules = rules
  }

  /** A node is here, with a new life after each start. */
  meet(member: string, life: string): void {
    this.state.members.set(member, { life, declared: this.state.members.get(member)?.declared ?? '' })
  }

  /** For a failover that may forget it. */
  copy(): AuthorityState {
    return structuredClone(this.state)
  }

  failOver(state: AuthorityState, timeline: string): void {
    this.state = { ...structuredClone(state), timeline }
    // Who is a member, and in which life, is known from elsewhere in these tests.
  }

  allow(member: string, life: string, complete: boolean, asks: readonly BudgetAsk[], now: number): AllowAnswer {
    const { members, timeline } = this.state
    const own = members.get(member)
    if (own?.life !== life) return { member: false, replies: [], recalls: [] }
    const answer: AllowAnswer = { member: true, replies: [], recalls: [] }
    for (const ask of asks) this.#answer(member, life, ask, now, answer)
    if (complete) own.declared = timeline
    if ([...members.values()].every(({ declared }) => declared === timeline)) this.state.settled = timeline
    return answer
  }

  #answer(member: string, life: string, ask: BudgetAsk, now: number, answer: AllowAnswer): void {
    const key = `${ask.period} ${ask.counter}`
    const budget = this.state.budgets.get(key) ?? { most: null, sequence: 0, recalledAt: -Infinity, shares: new Map() }
    this.state.budgets.set(key, budget)
    if (ask.most !== null && ask.sequence >= budget.sequence)
      Object.assign(budget, { most: ask.most, sequence: ask.sequence })
    const before = budget.shares.get(member)
    if (this.#rules.numbered && before?.life === life && ask.number <= before.number) return
    if (!this.#rules.lasting)
      for (const [name, share] of budget.shares)
        if (name !== member && now - share.heardAt > 10_000) Object.assign(share, { given: share.spent })
    const others = [...budget.shares].filter(([name]) => name !== member).map(([, share]) => share)
    const sum = (of: (share: Share) => number) => others.reduce((whole, share) => whole + of(share), 0)
    const [given, spent] = [sum((share) => share.given), sum((share) => share.spent)]
    const room = Math.max(0, (budget.most ?? 0) - given - ask.holds)
    const more = this.#grant(ask, budget, room, now, sum(({ rate }) => rate) + ask.rate)
    budget.shares.set(member, {
      ...{ life, number: ask.number, given: ask.holds + more, spent: ask.spent, rate: ask.rate, heardAt: now },
    })
    const short = ask.need > more
    if (short && given > spent && budget.recalledAt < now - 100) {
      budget.recalledAt = now
      answer.recalls.push(key)
    }
    const { counter, period, number } = ask
    answer.replies.push({
      ...{ counter, period, number, given: ask.holds + more, spent, held: Math.max(0, given - spent) },
      room: Math.max(0, room - more),
    })
  }

  #grant(ask: BudgetAsk, { most }: Budget, room: number, now: number, rates: number): number {
    const { settled, timeline, members } = this.state
    const isOpen = settled === timeline || !this.#rules.declared
    if (!ask.more || !isOpen || most === null || now < ask.start - 900_000 || now >= ask.end) return 0
    if (!this.#rules.bounded) return Math.max(ask.need, Math.floor(most / 4 / members.size))
    const share = rates === 0 ? 1 / members.size : (ask.rate + rates / members.size / 4) / (rates * 1.25)
    const chunk = Math.min(Math.max((room * share) / 4, ask.rate * 900), (room * share * 3) / 4)
    return Math.min(room, Math.max(ask.need, Math.floor(chunk)))
  }
}
