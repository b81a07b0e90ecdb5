import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { LimitCounters, type LimitHold } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../../src/policy/limits/limit-memory.ts'
import { restoreBudgets } from '../../../src/policy/limits/restore-budgets.ts'
import { runThreads } from '../../support/threads.ts'

function makeBudget(limit: number, more: Partial<Limit> = {}): Limit {
  const base = {
    policy: 'team',
    scope: 'workspace',
    kind: 'usd',
    period: 'day',
    limit,
    warns: false,
    perUser: false,
  } as const
  return { ...base, counter: `pol_1 ${more.scope ?? 'workspace'} usd ${more.period ?? 'day'}`, ...more }
}

const noon = Date.UTC(2026, 10, 23, 12)
const day = 86_400_000

function make(seeded = true) {
  const memory = createLimitMemory(3)
  const [one, other] = [0, 1].map((column) => new LimitCounters(memory, column, () => 1_000_000)) as [
    LimitCounters,
    LimitCounters,
  ]
  if (seeded) one.seed([])
  return { one, other, moment: { timeZone: 'UTC', now: noon } }
}

function open(counters: LimitCounters, limits: readonly Limit[]): LimitHold {
  const hold = counters.admit(limits, null, { requests: 1, tokens: 0 })
  if (!('taken' in hold)) throw new Error('refused')
  return hold
}

const need = (usd: number) => ({ usd: BigInt(usd), tokens: 1 })

describe('a budget', () => {
  const limits = [makeBudget(100)]

  it('holds nothing more for what began two periods ago, whose place is another day by now', () => {
    const { one, other, moment } = make()
    const [old, now, warned] = [open(one, limits), open(other, limits), open(one, [{ ...limits[0]!, warns: true }])]
    for (const hold of [old, warned]) expect(one.holdBudgets(hold, need(10), moment)).toBeNull()
    const later = { ...moment, now: noon + 2 * day }
    expect(other.holdBudgets(now, need(20), later)).toBeNull()
    expect(one.raiseBudgets(old, need(60), later.now)).toMatchObject({ why: 'over', want: null })
    expect(one.raiseBudgets(warned, need(60), later.now)).toEqual({ more: false })
    for (const hold of [old, warned]) {
      hold.actual = need(40)
      one.release(hold)
    }
    expect(one.budgetUse(limits[0]!, later)).toMatchObject({ used: 0, held: 20, holders: 1 })
    now.actual = need(15)
    other.release(now)
    expect(one.budgetUse(limits[0]!, later)).toMatchObject({ used: 15, held: 0, holders: 0 })
  })

  it('has more room while something is granted, and again its own afterwards', () => {
    const { one, moment } = make()
    const granted = [makeBudget(100, { grants: [{ amount: 50, until: noon + 1000 }] })]
    const [first, second] = [open(one, granted), open(one, granted)]
    expect(one.holdBudgets(first, need(140), moment)).toBeNull()
    expect(one.holdBudgets(second, need(11), moment)).toMatchObject({ why: 'held', most: 150 })
    expect(one.raiseBudgets(first, need(150), noon)).toEqual({ more: true })
    expect(one.raiseBudgets(first, need(150), noon)).toEqual({ more: false })
    expect(one.raiseBudgets(first, need(151), noon)).toMatchObject({ most: 150 })
    // Held while it was granted, it stays; but nothing is added to it when the grant has ended.
    expect(one.raiseBudgets(first, need(151), noon + 1000)).toMatchObject({ most: 100, why: 'spent' })
    first.actual = need(120)
    one.release(first)
    const later = { ...moment, now: noon + 1000 }
    expect(one.holdBudgets(second, need(1), later)).toMatchObject({ why: 'spent', most: 100, use: { used: 120 } })
  })

  it('counts what the store has of the day, where the clock was ahead by days and was set back', () => {
    const { one, other, moment } = make()
    const counter = limits[0]!.counter
    const first = open(one, limits)
    expect(one.holdBudgets(first, need(30), moment)).toBeNull()
    first.actual = need(30)
    one.release(first)
    const ahead = { ...moment, now: noon + 2 * day }
    const late = open(one, limits)
    expect(one.holdBudgets(late, need(90), ahead)).toBeNull()
    const back = open(one, limits)
    expect(one.holdBudgets(back, need(1), moment)).toMatchObject({ why: 'closed' })
    restoreBudgets(one.budgetParts, [[counter, '2026-11-23', 30]], [[counter, '2026-11-23', 5]])
    late.actual = need(90)
    one.release(late)
    const use = () => other.budgetUse(limits[0]!, moment)
    expect(use()).toMatchObject({ used: 30, held: 5, holders: 1 })
    expect(one.holdBudgets(back, need(66), moment)).toMatchObject({ why: 'held' })
    expect(one.holdBudgets(back, need(65), moment)).toBeNull()
    // What counts already is not counted again.
    restoreBudgets(one.budgetParts, [[counter, '2026-11-23', 30]], [[counter, '2026-11-23', 5]])
    expect(use()).toMatchObject({ used: 30, held: 70 })
  })

  it('counts what was spent of the day before, where the gateway started with a clock that was behind', () => {
    const { one, moment } = make()
    const behind = { ...moment, now: noon - 400 * day }
    const first = open(one, limits)
    expect(one.holdBudgets(first, need(1), behind)).toBeNull()
    one.release(first)
    const next = open(one, limits)
    expect(one.holdBudgets(next, need(10), moment)).toBeNull()
    next.actual = need(10)
    one.release(next)
    restoreBudgets(one.budgetParts, [[limits[0]!.counter, '2026-11-23', 80]], [])
    expect(one.budgetUse(limits[0]!, moment)).toMatchObject({ used: 80, held: 0 })
    expect(one.holdBudgets(open(one, limits), need(21), moment)).toMatchObject({ why: 'spent' })
  })

  it('has what turns of a connection came to as used, and may hold more for the next; also where the thread dies between them', () => {
    const { one, other, moment } = make()
    const use = () => one.budgetUse(limits[0]!, moment)
    const connection = open(one, limits)
    expect(one.holdBudgets(connection, need(40), moment)).toBeNull()
    one.bookTurns(connection, need(10))
    expect(use()).toMatchObject({ used: 10, held: 0, holders: 1 })
    expect(one.raiseBudgets(connection, need(101), noon)).toMatchObject({ why: 'spent', need: 91n, use: { used: 10 } })
    expect(one.raiseBudgets(connection, need(40), noon)).toEqual({ more: true })
    expect(use()).toMatchObject({ used: 10, held: 30, holders: 1 })
    // More than was held.
    one.bookTurns(connection, need(50))
    one.bookTurns(connection, need(50))
    expect(use()).toMatchObject({ used: 50, held: 0, holders: 1 })
    const last = open(other, limits)
    expect(other.holdBudgets(last, need(50), moment)).toBeNull()
    other.bookTurns(last, need(20))
    other.reverseThread(1)
    expect(use()).toMatchObject({ used: 70, held: 0, holders: 1 })
    connection.actual = need(55)
    one.release(connection)
    expect(use()).toMatchObject({ used: 75, held: 0, holders: 0 })
  })

  it('counts each hold of work behind its call until that ends, and nobody as holding what held nothing', () => {
    const { one, other, moment } = make()
    const use = () => one.budgetUse(limits[0]!, moment)
    for (const amount of [40, 20]) {
      const hold = open(one, limits)
      expect(one.holdBudgets(hold, need(amount), moment)).toBeNull()
      hold.actual = 'kept'
      one.release(hold)
    }
    // The end of the thread that sent them is not theirs.
    other.reverseThread(0)
    expect(use()).toMatchObject({ used: 0, held: 60, holders: 2 })
    const settled = { counter: limits[0]!.counter, period: '2026-11-23' }
    one.settleKept([
      { ...settled, held: 40, actual: 10 },
      { ...settled, held: 20, actual: 0 },
      { ...settled, held: 0, actual: 5 },
    ])
    expect(use()).toMatchObject({ used: 15, held: 0, holders: 0 })
  })

  it('lets nothing pass before it is known what was spent, and counts that', () => {
    const { one, other, moment } = make(false)
    const hold = open(one, limits)
    expect(one.holdBudgets(hold, need(10), moment)).toMatchObject({ why: 'closed' })
    for (const counters of [other, one]) counters.seed([[limits[0]!.counter, '2026-11-23', 95]])
    expect(one.holdBudgets(hold, need(10), moment)).toMatchObject({ why: 'spent', use: { used: 95 } })
    expect(one.holdBudgets(hold, need(5), moment)).toBeNull()
  })

  it('litellm 26672, litellm 34732, litellm 40095: tells what is spent from what running requests hold', () => {
    const { one, other, moment } = make()
    const first = open(one, limits)
    expect(one.holdBudgets(first, need(60), moment)).toBeNull()
    const second = open(other, limits)
    expect(other.holdBudgets(second, need(50), moment)).toMatchObject({
      why: 'held',
      use: { used: 0, held: 60, holders: 1 },
    })
    expect(other.holdBudgets(second, need(100), moment)).toMatchObject({ why: 'held' })
    expect(other.holdBudgets(second, need(101), moment)).toMatchObject({ why: 'spent' })
    first.actual = need(55)
    one.release(first)
    expect(other.holdBudgets(second, need(50), moment)).toMatchObject({
      why: 'spent',
      use: { used: 55, held: 0, holders: 0 },
    })
    expect(other.holdBudgets(second, need(45), moment)).toBeNull()
  })

  it.each(['held', 'raised'] as const)(
    'never refuses when room came back before the refusal was written: %s',
    (how) => {
      const { one, other, moment } = make()
      const [first, second] = [open(one, limits), open(other, limits)]
      expect(one.holdBudgets(first, need(80), moment)).toBeNull()
      if (how === 'raised') expect(other.holdBudgets(second, need(20), moment)).toBeNull()
      // A refusal reads what is settled to say what left no room. Whatever is tried, the first goes just before the last of these.
      const { load } = Atomics
      const settled = first.budgets.map(({ half }) => half + 2)
      let left = how === 'held' ? 3 : 1
      const spied = vi.spyOn(Atomics, 'load').mockImplementation(((words: BigInt64Array, place: number) => {
        if (settled.includes(place) && --left === 0) one.release(first)
        return load(words, place)
      }) as typeof Atomics.load)
      onTestFinished(() => spied.mockRestore())
      const found =
        how === 'held' ? other.holdBudgets(second, need(50), moment) : other.raiseBudgets(second, need(50), noon)
      expect(found).toEqual(how === 'held' ? null : { more: true })
      expect(left).toBeLessThanOrEqual(0)
    },
  )

  it('holds more before a dearer target, or not at all', () => {
    const { one, moment } = make()
    const hold = open(one, [makeBudget(100), makeBudget(1000, { period: 'month' })])
    one.holdBudgets(hold, need(40), moment)
    expect(one.raiseBudgets(hold, need(90), noon)).toEqual({ more: true })
    expect(one.raiseBudgets(hold, need(20), noon)).toEqual({ more: false })
    expect(one.raiseBudgets(hold, need(101), noon)).toMatchObject({ limit: { period: 'day' } })
    expect(hold.budgets.map(({ held }) => held)).toEqual([90n, 90n])
    expect(one.budgetUse(limits[0]!, moment)).toMatchObject({ used: 0, held: 90 })
  })

  it('is left as it was where a later budget of the request has no room, held or raised', () => {
    const { one, moment } = make()
    const month = makeBudget(1000, { period: 'month' })
    const hold = open(one, [month, limits[0]!])
    expect(one.holdBudgets(hold, need(101), moment)).toMatchObject({ limit: { period: 'day' } })
    expect(one.budgetUse(month, moment)).toMatchObject({ used: 0, held: 0, holders: 0 })
    expect(one.holdBudgets(hold, need(40), moment)).toBeNull()
    expect(one.raiseBudgets(hold, need(101), noon)).toMatchObject({ limit: { period: 'day' } })
    for (const limit of [month, limits[0]!])
      expect(one.budgetUse(limit, moment)).toMatchObject({ used: 0, held: 40, holders: 1 })
    hold.actual = need(30)
    one.release(hold)
    expect(one.budgetUse(month, moment)).toMatchObject({ used: 30, held: 0, holders: 0 })
  })

  it('counts for the day in which a request began, and the next one from nothing', () => {
    const { one, moment } = make()
    const hold = open(one, limits)
    one.holdBudgets(hold, need(100), moment)
    const tomorrow = { ...moment, now: noon + day }
    const next = open(one, limits)
    expect(one.holdBudgets(next, need(100), tomorrow)).toBeNull()
    hold.actual = need(100)
    one.release(hold)
    expect(one.budgetUse(limits[0]!, moment)).toMatchObject({ used: 100, held: 0 })
    expect(one.budgetUse(limits[0]!, tomorrow)).toMatchObject({ used: 0, held: 100 })
    const later = { ...moment, now: noon + 3 * day }
    expect(one.holdBudgets(open(one, limits), need(100), later)).toBeNull()
  })

  it('is spent by what a dead thread held, as its records are charged', () => {
    const { one, other, moment } = make()
    const hold = open(one, limits)
    one.holdBudgets(hold, need(40), moment)
    one.raiseBudgets(hold, need(70), noon)
    other.reverseThread(0)
    other.reverseThread(0)
    expect(other.budgetUse(limits[0]!, moment)).toMatchObject({ used: 70, held: 0, holders: 0 })
  })

  it('that only warns refuses nothing', () => {
    const { one, moment } = make()
    const warned = [makeBudget(100, { warns: true })]
    expect(one.holdBudgets(open(one, warned), need(500), moment)).toBeNull()
    expect(one.budgetUse(warned[0]!, moment)).toMatchObject({ held: 500 })
    expect(one.holdBudgets(open(one, [makeBudget(0, { warns: true })]), need(1), moment)).toBeNull()
  })

  it('is that of each end user where a policy says so', () => {
    const { one, moment } = make()
    const perUser = makeBudget(100, { perUser: true })
    const holdFor = (user: string) => {
      const hold = one.admit([perUser], user, { requests: 1, tokens: 0 })
      return 'taken' in hold ? one.holdBudgets(hold, need(60), moment) : hold
    }
    expect([holdFor('ann'), holdFor('bob')]).toEqual([null, null])
    expect(holdFor('ann')).toMatchObject({ why: 'held', use: { held: 60 } })
    expect(one.budgetUse(perUser, moment, 'bob')).toMatchObject({ used: 0, held: 60, resetsAt: noon + day / 2 })
    expect(one.budgetUse(perUser, moment, 'eve')).toMatchObject({ used: 0, held: 0, holders: 0 })
  })

  it('of tokens counts those, and not the dollars, and part of one as one', () => {
    const { one, moment } = make()
    const tokens = makeBudget(100, { kind: 'tokens' })
    const hold = open(one, [tokens])
    expect(one.holdBudgets(hold, { usd: 900n, tokens: 99.5 }, moment)).toBeNull()
    expect(one.budgetUse(tokens, moment)).toMatchObject({ held: 100 })
    hold.actual = { usd: 700n, tokens: 40.2 }
    one.release(hold)
    one.release(hold)
    expect(one.budgetUse(tokens, moment)).toMatchObject({ used: 41, held: 0, holders: 0 })
  })

  it('holds nothing of a request that was cancelled before it was sent', () => {
    const { one, moment } = make()
    const requests = makeBudget(5, { kind: 'requests', period: null, counter: 'requests' })
    const hold = open(one, [requests, ...limits])
    expect(one.holdBudgets(hold, need(60), moment)).toBeNull()
    expect(one.used(requests)).toBe(1)
    one.cancel(hold)
    expect(one.used(requests)).toBe(0)
    expect(one.budgetUse(limits[0]!, moment)).toMatchObject({ used: 0, held: 0, holders: 0 })
  })

  it('of 0 lets nothing pass', () => {
    const { one, moment } = make()
    expect(one.holdBudgets(open(one, [makeBudget(0)]), need(0), moment)).toMatchObject({ why: 'spent' })
  })

  it('admits nothing beyond its limit, refuses nothing that has room, and is the sum of its requests', () => {
    const step = fc.record({
      thread: fc.boolean(),
      settles: fc.boolean(),
      dies: fc.nat({ max: 30 }),
      amount: fc.nat({ max: 60 }),
      actual: fc.nat({ max: 60 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { one, other, moment } = make()
        const wide = makeBudget(200, { scope: 'workspace' })
        const narrow = makeBudget(120, { scope: 'key:a/b/c' })
        const open_: { hold: LimitHold; counters: LimitCounters; amount: number }[] = []
        let spent = 0
        const held = () => open_.reduce((sum, { amount }) => sum + amount, 0)
        for (const { thread, settles, dies, amount, actual } of steps) {
          const counters = thread ? one : other
          const index = open_.findIndex((each) => each.counters === counters)
          const oldest = settles && index >= 0 ? open_.splice(index, 1)[0] : undefined
          if (dies === 0) {
            spent += open_.filter((each) => each.counters === one).reduce((sum, each) => sum + each.amount, 0)
            if (oldest?.counters === one) spent += oldest.amount
            other.reverseThread(0)
            return
          }
          if (oldest !== undefined) {
            const used = Math.min(actual, oldest.amount)
            oldest.hold.actual = need(used)
            counters.release(oldest.hold)
            spent += used
            continue
          }
          const hold = open(counters, [narrow, wide])
          const refusal = counters.holdBudgets(hold, need(amount), moment)
          const fits = spent + held() + amount <= 120
          expect(refusal === null).toBe(fits)
          if (refusal === null) open_.push({ hold, counters, amount })
          for (const limit of [narrow, wide])
            expect(one.budgetUse(limit, moment)).toMatchObject({ used: spent, held: held(), holders: open_.length })
        }
      }),
      { numRuns: 300 },
    )
  })

  it('is exact over four threads and the change of a day', async () => {
    const memory = createLimitMemory(5)
    const reader = new LimitCounters(memory, 4, () => 1_000_000)
    reader.seed([])
    const limits = [makeBudget(10_000)]
    const module = new URL('./budget-thread.ts', import.meta.url)
    const threads = await runThreads<{ spent: number[]; most: number }>(module, 4, {
      memory,
      limits,
      rounds: 2000,
      noon,
      day,
      threads: 4,
      ended: new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT),
    })
    for (const [index, period] of [noon, noon + day, noon + 2 * day].entries()) {
      const total = threads.reduce((sum, { spent }) => sum + (spent[index] ?? 0), 0)
      expect(total).toBeLessThanOrEqual(10_000)
      expect(total).toBeGreaterThan(9900)
      // A row has the last two periods.
      if (index > 0)
        expect(reader.budgetUse(limits[0]!, { timeZone: 'UTC', now: period })).toMatchObject({
          used: total,
          held: 0,
          holders: 0,
        })
    }
  })
})
