import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import type { AllowanceWant } from '../../../src/policy/limits/allowance.ts'
import { AllowanceRow } from '../../../src/policy/limits/allowance-row.ts'
import { LimitCounters, type LimitHold } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'

const budget: Limit = {
  ...{ counter: 'pol_1 workspace usd day', policy: 'team', scope: 'workspace', kind: 'usd', period: 'day' },
  ...{ limit: 1000, warns: false, perUser: false },
}
const day = 86_400_000
const moment = { timeZone: 'UTC', now: Date.UTC(2026, 10, 23, 12) }

function make() {
  const memory = createLimitMemory(3, { budgets: true, windows: null })
  const told: AllowanceWant[] = []
  const counters = new LimitCounters(
    memory,
    0,
    () => 1_000_000,
    (want) => told.push(want),
  )
  counters.seed([])
  const rows = new LimitRows(memory)
  const rowOf = ({ half, period }: AllowanceWant) => new AllowanceRow(rows.words, half, period.number)
  return { memory, counters, told, rows, rowOf }
}

function open(counters: LimitCounters, limits = [budget]): LimitHold {
  const hold = counters.admit(limits, null, { requests: 1, tokens: 0 })
  if (!('taken' in hold)) throw new Error('refused')
  return hold
}

const need = (usd: number) => ({ usd: BigInt(usd), tokens: 1 })
const answer = (refill: number, othersSpent = 0, othersHeld = 0) => ({ refill, othersSpent, othersHeld })

/** The first want, after a request that had to be refused since nothing was given. */
function begin(amount = 10) {
  const made = make()
  const hold = open(made.counters)
  const refusal = made.counters.holdBudgets(hold, need(amount), moment)
  if (refusal?.want == null) throw new Error('nothing is wanted')
  return { ...made, hold, refusal, want: refusal.want, row: made.rowOf(refusal.want) }
}

describe('a budget that nodes share', () => {
  it('lets nothing pass that this node was not given, and says what to ask for', () => {
    const { counters, hold, refusal, want, row } = begin(10)
    expect(refusal).toMatchObject({ why: 'apart', use: { used: 0, held: 0 } })
    expect(want).toMatchObject({ counter: budget.counter, most: 1000, need: 10, period: { name: '2026-11-23' } })
    row.raise(25, answer(12))
    expect(counters.holdBudgets(hold, need(10), moment)).toBeNull()
    expect(counters.raiseBudgets(hold, need(25), moment.now)).toEqual({ more: true })
    expect(counters.raiseBudgets(hold, need(26), moment.now)).toMatchObject({ why: 'apart', want: { need: 1 } })
  })

  it('never lets more pass than the limit, whatever it was given before that was lowered', () => {
    const { counters, hold, row } = begin()
    row.raise(500, answer(500))
    expect(counters.holdBudgets(hold, need(101), moment)).toBeNull()
    const lowered = open(counters, [{ ...budget, limit: 150 }])
    expect(counters.holdBudgets(lowered, need(50), moment)).toMatchObject({ why: 'held' })
    expect(counters.holdBudgets(lowered, need(49), moment)).toBeNull()
  })

  it('says what all nodes have used, and does not ask where that leaves no room', () => {
    const { counters, hold, row } = begin()
    row.raise(0, answer(0, 900, 60))
    expect(counters.holdBudgets(hold, need(41), moment)).toMatchObject({ why: 'held', use: { used: 900, held: 60 } })
    expect(counters.holdBudgets(hold, need(101), moment)).toMatchObject({ why: 'spent' })
    expect(counters.holdBudgets(hold, need(40), moment)).toMatchObject({ why: 'apart' })
    expect(counters.budgetUse(budget, moment)).toMatchObject({ used: 900, held: 60 })
  })

  it('asks once before what it has runs out, and again after an answer', () => {
    const { counters, told, want, row } = begin()
    row.raise(100, answer(50))
    const holdOne = () => counters.holdBudgets(open(counters), need(30), moment)
    expect([holdOne(), told.length]).toEqual([null, 0])
    expect([holdOne(), told.length]).toEqual([null, 1])
    expect([holdOne(), told.length]).toEqual([null, 1])
    expect(told[0]).toMatchObject({ half: want.half, need: 0 })
    row.raise(100, answer(80))
    expect([counters.holdBudgets(open(counters), need(1), moment), told.length]).toEqual([null, 2])
  })

  it('wakes who waits for an answer, and does not ask again for what was refused just now', async () => {
    const { counters, told, want, row } = begin()
    const waiting = counters.askAllowance(want)
    expect(told).toEqual([want])
    row.refuse(Date.now() + 60_000, 5)
    row.wake()
    await waiting
    await counters.askAllowance(want)
    expect(told).toHaveLength(1)
    void counters.askAllowance({ ...want, need: 5 })
    expect(told).toHaveLength(2)
    row.wake()
  })

  it('does not wait where nobody answers, and goes on telling what it needs', async () => {
    const { counters, told, want, rows } = begin()
    rows.cutOff = true
    const begun = performance.now()
    for (let time = 0; time < 50; time++) await counters.askAllowance(want)
    // Fifty waits would take five seconds.
    expect(performance.now() - begun).toBeLessThan(2500)
    expect(told).toHaveLength(50)
  })

  it('says that it is cut off where nobody can give it more, and not where its own requests hold what is missing', () => {
    const { counters, hold, row, rows } = begin()
    row.raise(50, answer(50))
    rows.cutOff = true
    expect(counters.holdBudgets(hold, need(60), moment)).toMatchObject({ why: 'cut off' })
    rows.cutOff = false
    expect(counters.holdBudgets(hold, need(60), moment)).toMatchObject({ why: 'apart' })
  })

  it('gives back only what is not used', () => {
    const { counters, hold, row } = begin()
    row.raise(100, answer(100))
    counters.holdBudgets(hold, need(60), moment)
    expect([row.lower(80), row.allowance()]).toEqual([80, 80])
    expect([row.lower(10), row.allowance()]).toEqual([60, 60])
    expect(counters.raiseBudgets(hold, need(61), moment.now)).toMatchObject({ why: 'apart' })
    hold.actual = need(20)
    counters.release(hold)
    expect([row.used(), row.spent(), row.lower(0)]).toEqual([20, 20, 20])
  })

  it('begins every day with nothing, by the clock of the cluster', () => {
    const { counters, hold, row, rows, rowOf } = begin()
    row.raise(100, answer(100, 7, 8))
    rows.clockAhead = day
    const refusal = counters.holdBudgets(hold, need(1), moment)
    expect(refusal).toMatchObject({ why: 'apart', want: { period: { name: '2026-11-24' } }, use: { used: 0, held: 0 } })
    rows.clockAhead = 2 * day
    const later = counters.holdBudgets(hold, need(1), moment)
    // The same half as that of the day before yesterday.
    expect(later?.want?.half).toBe(begin().want.half)
    if (later?.want != null) rowOf(later.want)
    expect(counters.holdBudgets(hold, need(1), moment)).toMatchObject({ use: { used: 0, held: 0 } })
  })

  it('is told of budgets that only warn, and refuses none of their requests', () => {
    const { counters, told } = make()
    const warning = { ...budget, warns: true, limit: 1 }
    expect(counters.holdBudgets(open(counters, [warning]), need(10), moment)).toBeNull()
    expect(told).toMatchObject([{ warns: true, need: 0 }])
  })

  it.each([
    ['then what was taken is undone', 60, false, 0],
    ['but not where there is room all the same', 20, true, 20],
  ])('a request that takes just when some is given back: %s', (_name, amount, passes, used) => {
    const { counters, hold, row } = begin()
    row.raise(100, answer(100))
    const exchange = Atomics.compareExchange
    // Between the look at the allowance and the taking.
    const meanwhile = (words: BigInt64Array, place: number, expected: bigint, replacement: bigint) => {
      expect(row.lower(30)).toBe(30)
      return exchange(words, place, expected, replacement)
    }
    vi.spyOn(Atomics, 'compareExchange').mockImplementationOnce(meanwhile as typeof exchange)
    onTestFinished(() => void vi.restoreAllMocks())
    const refusal = counters.holdBudgets(hold, need(amount), moment)
    expect([refusal === null, row.used()]).toEqual([passes, used])
  })
})
