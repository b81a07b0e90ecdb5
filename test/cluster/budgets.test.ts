import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allRules, BudgetAuthority } from '../../scripts/crash/shared-budgets/authority.ts'
import { type Simulated, simulate } from '../../scripts/crash/shared-budgets/simulation.ts'
import { type BudgetPlace, NodeBudgets, type SharedBudget } from '../../src/cluster/budgets.ts'

const dollar = 1e9
const hostile = { deaths: 10, partitions: 12, failovers: 15 }

/** Every fault, often, and a budget that ends in the midst of them. */
const scenario: fc.Arbitrary<Simulated> = fc
  .record({
    seed: fc.integer({ min: 1, max: 1e9 }),
    nodes: fc.integer({ min: 2, max: 8 }),
    most: fc.constantFrom(0.05, 5, 120).map((usd) => usd * dollar),
    share: fc.integer({ min: 300, max: 1500 }),
    skew: fc.constantFrom(null, 0.6),
    seconds: fc.integer({ min: 15, max: 30 }),
    faults: fc.constantFrom(hostile, hostile, hostile, null),
  })
  .map(({ share, ...rest }) => ({ ...rest, requests: 40, cost: Math.round(rest.most / share) }))

describe('a budget of eight nodes', () => {
  it('is never overspent: deaths, partitions, failovers, lost and late messages', () => {
    let requests = 0
    const isKept = (each: Simulated) => {
      const result = simulate(each)
      requests += result.requests
      return result.overspent === 0
    }
    fc.assert(fc.property(scenario, isKept), { numRuns: 200 })
    expect(requests).toBeGreaterThan(50_000)
  })

  it('is used up, while faults refuse little', () => {
    const calm = simulate({
      ...{
        seed: 7,
        nodes: 8,
        most: 5 * dollar,
        requests: 40,
        cost: 0.006 * dollar,
        seconds: 30,
        skew: 0.6,
        faults: null,
      },
    })
    expect(calm.overspent).toBe(0)
    expect(calm.unused).toBeLessThan(0.005)
    const early = simulate({
      ...{ seed: 7, nodes: 8, most: 500 * dollar, requests: 40, cost: 0.006 * dollar, seconds: 60, skew: 0.6 },
      ...{ faults: null, away: [10, 60] },
    })
    // What is in hand lasts while PostgreSQL is away.
    expect([early.overspent, early.refused]).toEqual([0, 0])
  })

  it.each([
    ['what all were given may be more than the limit', { bounded: false }],
    ['an ask that was late counts', { numbered: false }],
    ['after a failover is given before all have said what they have', { declared: false }],
    ['what a node was given that is not heard of goes to others', { lasting: false }],
    ['what is given back is spent until it is', { lowersFirst: false }],
    ['an answer that was late counts', { onlyLast: false }],
    ['a node that comes back does not know what it spent', { readsJournal: false }],
  ])('is overspent where %s', (_rule, rules) => {
    const overspends = (seed: number) =>
      simulate({
        ...{ seed, nodes: 8, most: 5 * dollar, requests: 40, cost: 0.005 * dollar, seconds: 40, skew: null },
        ...{ faults: hostile, rules },
      }).overspent > 0
    expect(Array.from({ length: 200 }, (_, seed) => seed).some(overspends)).toBe(true)
  })
})

const budget: SharedBudget = {
  ...{ counter: 'pol_1 workspace usd day', period: { name: '2026-11-26', start: 0, end: 86_400_000 } },
  ...{ most: 1000, sequence: 1, warns: false },
}

class Place implements BudgetPlace {
  given = 0
  whole = 0
  woken = 0
  refill = 0
  refused: [number, number] | null = null
  others = { spent: 0, held: 0 }
  used = () => this.whole
  spent = () => this.whole
  allowance = () => this.given
  lower = (wanted: number) => (this.given = Math.max(wanted, this.whole))
  raise(given: number, { refill, othersSpent, othersHeld }: Parameters<BudgetPlace['raise']>[1]) {
    this.given = given
    this.refill = refill
    this.others = { spent: othersSpent, held: othersHeld }
  }
  wake = () => void this.woken++
  refuse = (until: number, room: number) => {
    this.refused = [until, room]
  }
}

describe('a node that shares budgets', () => {
  function make() {
    const clock = { now: 1000 }
    const authority = new BudgetAuthority(allRules)
    const node = (name: string) => {
      authority.meet(name, '0')
      const [budgets, place] = [new NodeBudgets(() => clock.now), new Place()]
      const call = (which: 'urgent' | 'due' = 'due') => {
        const asks = budgets.collect(which)
        const answer = authority.allow(name, '0', true, asks, clock.now)
        budgets.receive(answer.replies)
        return { asks, ...answer }
      }
      return { budgets, place, call }
    }
    return { clock, one: node('gw-a'), other: node('gw-b') }
  }

  it('asks for what waits, is given more than that, and asks again at half', () => {
    const { one } = make()
    one.budgets.want(budget, one.place, 10)
    expect(one.call().asks).toMatchObject([{ number: 1, holds: 0, need: 10, more: true }])
    // A quarter of its half.
    expect(one.place).toMatchObject({ given: 125, refill: 62.5, woken: 1, refused: null })
    expect(one.call().asks).toEqual([])
    one.place.whole = 63
    one.budgets.want(budget, one.place, 0)
    expect(one.budgets.urgentAt()).toBeNull()
    expect(one.call().asks).toMatchObject([{ number: 2, holds: 125, need: 0, more: true }])
    expect(one.place.given).toBeGreaterThan(125)
  })

  it('has others give back what they do not need, looks once more, and remembers a refusal for a while', () => {
    const { one, other, clock } = make()
    other.budgets.want(budget, other.place, 900)
    other.call()
    expect(other.place.given).toBe(900)
    other.place.whole = 300
    one.budgets.want(budget, one.place, 800)
    expect(one.call()).toMatchObject({ recalls: ['2026-11-26 pol_1 workspace usd day'] })
    expect([one.place.woken, one.budgets.urgentAt()]).toEqual([0, clock.now + 40])
    other.budgets.recall(budget.counter, budget.period.name)
    expect(other.call('urgent').asks).toMatchObject([{ holds: 300, more: false }])
    expect(other.place.given).toBe(300)
    clock.now += 40
    one.call('urgent')
    expect(one.place).toMatchObject({ given: 700, woken: 1, refused: [clock.now + 250, 700] })
    // While others look for it, what becomes free goes back four times a second.
    other.place.whole = 200
    expect(other.call().asks).toEqual([])
    clock.now += 250
    expect(other.call().asks).toMatchObject([{ holds: 200 }])
    clock.now += 2000
    other.place.given = 250
    expect(other.call().asks).toEqual([])
  })

  it('says what it has again, with another number, when nobody knows whether it was heard', () => {
    const { one, clock } = make()
    one.budgets.want(budget, one.place, 10)
    const [first] = one.budgets.collect('urgent')
    one.budgets.lose([first!])
    const [again] = one.budgets.collect('due')
    expect(again).toMatchObject({ number: 2, more: true })
    one.budgets.receive([{ ...named, number: 1, given: 500, spent: 0, held: 0, room: 0 }])
    expect(one.place.given).toBe(0)
    one.budgets.receive([{ ...named, number: 2, given: 500, spent: 7, held: 8, room: 0 }])
    expect(one.place).toMatchObject({ given: 500, others: { spent: 7, held: 8 } })
    // What it spent is told now and then, though nothing is wanted.
    one.place.whole = 5
    expect(one.budgets.collect('due')).toEqual([])
    clock.now += 5000
    expect(one.budgets.collect('due')).toMatchObject([{ spent: 5, more: false, holds: 500 }])
  })

  it('leaves out nothing of what it has when it reports all, though it was about to wait', () => {
    const { one, other } = make()
    other.budgets.want(budget, other.place, 1000)
    other.call()
    one.budgets.want(budget, one.place, 10)
    one.call()
    one.place.given = 7
    one.budgets.reportAll()
    expect(one.call().asks).toMatchObject([{ holds: 7 }])
  })

  it('takes up a new limit, and not an older one', () => {
    const { one } = make()
    one.budgets.want({ ...budget, most: 2000, sequence: 5 }, one.place, 0)
    one.budgets.want({ ...budget, most: 1000, sequence: 4 }, one.place, 0)
    expect(one.call().asks).toMatchObject([{ most: 2000, sequence: 5 }])
  })

  it('gives all back that it does not use, and forgets what is over', () => {
    const { one, clock } = make()
    one.budgets.want(budget, one.place, 10)
    one.call()
    one.place.whole = 4
    one.budgets.releaseAll()
    expect(one.call().asks).toMatchObject([{ holds: 4, more: false }])
    one.budgets.forget(budget.period.end + 1)
    expect(one.budgets.size).toBe(0)
    one.budgets.want({ ...budget, warns: true }, one.place, 0)
    clock.now++
    expect(one.call().asks).toMatchObject([{ holds: 4, spent: 4, more: false }])
  })
})

const named = { counter: budget.counter, period: budget.period.name }
