import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HeldBudget } from '../../../src/cluster/budget-questions.ts'
import type { ClusterNode } from '../../../src/cluster/node.ts'
import { notYet, removed } from '../../../src/cluster/troubles.ts'
import type { BookedAmount } from '../../../src/core/journal-format.ts'
import { SharedBudgets } from '../../../src/daemon/cluster/shared-budgets.ts'
import { AllowanceRow } from '../../../src/policy/limits/allowance-row.ts'
import type { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, type LimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'

const counter = 'pol_1 workspace usd month'

let asked: string[]
let warnings: unknown[]
/** What a question is answered with besides what stands here always. */
let failures: Map<string, Error>
let node: { state: object | null; trouble: string | null }
let memory: LimitMemory
/** By how much PostgreSQL's clock is. */
let aheadMs: number
let budgets: SharedBudgets
/** What PostgreSQL says that this node had, what is counted here, and what the store was given to count. */
let held: HeldBudget[]
let used: BookedAmount[]
let stored: BookedAmount[]

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-03-10T12:00:00Z') })
  asked = []
  warnings = []
  aheadMs = 0
  failures = new Map()
  held = []
  used = []
  stored = []
  node = { state: {}, trouble: null }
  memory = createLimitMemory(1, { budgets: true, windows: null })
  const ask = async (name: string) => {
    asked.push(name)
    const failure = failures.get(name)
    if (failure !== undefined) throw failure
    if (name === 'held-budgets') return held
    return name === 'allow' ? { member: true, now: Date.now() + aheadMs, replies: [] } : []
  }
  const nothing = () => {}
  const counters: Pick<LimitCounters, 'findPeriod' | 'spentHere' | 'addUsed'> = {
    findPeriod: () => ({ half: 64, number: 3 }),
    spentHere: (name) => used.reduce((sum, [each, , amount]) => sum + (each === name ? amount : 0), 0),
    addUsed: (booked) => void used.push(booked),
  }
  budgets = new SharedBudgets({
    node: Object.assign(node, { self: {}, published: 0, link: { ask } }) as unknown as ClusterNode,
    counters: counters as LimitCounters,
    memory,
    log: { debug: nothing, info: nothing, warn: (_, fields) => warnings.push(fields), error: nothing },
    store: {
      spend: {
        list: async () => ({ used: [], held: [], open: [] }),
        add: async (amounts) => void stored.push(...amounts),
      },
    },
    watched: () => [counter],
  })
})
afterEach(() => {
  budgets.stop()
  vi.useRealTimers()
})

const times = (name: string) => asked.filter((each) => each === name).length
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1000)

describe('budgets that nodes share', () => {
  it('are waited for at a start until PostgreSQL has heard what is here, or is known to be away', async () => {
    let isSettled = false
    node.trouble = notYet
    void budgets.start().then(() => {
      isSettled = true
    })
    await seconds(1)
    expect(isSettled).toBe(false)
    node.trouble = null
    new LimitRows(memory).seed()
    await seconds(1)
    expect(isSettled).toBe(true)
  })

  it.each([
    ['no route', {}],
    [null, null],
  ])('hold up no start where PostgreSQL says %s, of a member %j', async (trouble, state) => {
    Object.assign(node, { trouble, state })
    await budgets.start()
  })

  it('are not spoken of before what earlier runs spent is counted', async () => {
    void budgets.start()
    await seconds(10)
    expect(asked).toEqual([])
    new LimitRows(memory).seed()
    await seconds(1)
    expect(asked).toEqual(['held-budgets', 'allow', 'budget-use'])
  })

  it('are told whole once, and again when PostgreSQL was away', async () => {
    new LimitRows(memory).seed()
    void budgets.start()
    await seconds(20)
    expect([times('held-budgets'), times('allow')]).toEqual([1, 1])
    node.trouble = 'no route'
    budgets.noteCut()
    expect(new LimitRows(memory).cutOff).toBe(true)
    await seconds(20)
    expect(times('allow')).toBe(1)
    node.trouble = null
    budgets.met()
    await seconds(1)
    expect([times('held-budgets'), times('allow'), new LimitRows(memory).cutOff]).toEqual([1, 2, false])
  })

  it('count what this node told of them before its data directory was restored from an earlier one', async () => {
    const period = { period: '2026-03', start: Date.parse('2026-03-01'), end: Date.parse('2026-04-01') }
    held = [
      { counter, ...period, spent: 500 },
      { counter: 'other', ...period, spent: 70 },
    ]
    used = [
      [counter, '2026-03', 200],
      ['other', '2026-03', 80],
    ]
    new LimitRows(memory).seed()
    void budgets.start()
    await seconds(1)
    expect(stored).toEqual([[counter, '2026-03', 300]])
    expect(used.slice(2)).toEqual(stored)
  })

  it('are told whole until they could be, and what kept them is said', async () => {
    failures.set('allow', new Error('deadlock detected'))
    new LimitRows(memory).seed()
    void budgets.start()
    await seconds(1)
    expect(times('allow')).toBeGreaterThan(1)
    expect(warnings[0]).toEqual({ reason: 'Error: deadlock detected' })
    failures.clear()
    await seconds(1)
    const told = times('allow')
    await seconds(10)
    expect(times('allow')).toBe(told)
  })

  it('are told at once where something counts as spent besides requests', async () => {
    const rows = new LimitRows(memory)
    rows.seed()
    void budgets.start()
    await seconds(10)
    const before = times('allow')
    budgets.report([{ counter, period: { name: '2026-03', start: 0, end: Number.MAX_SAFE_INTEGER } }])
    expect(times('allow')).toBe(before + 1)
    await seconds(10)
    expect(times('allow')).toBe(before + 1)
  })

  it('that people look at are read every five seconds, also where the clock was set back', async () => {
    new LimitRows(memory).seed()
    void budgets.start()
    await seconds(1)
    await seconds(15)
    expect(times('budget-use')).toBe(4)
    vi.setSystemTime(Date.now() - 3600_000)
    await seconds(15)
    expect(times('budget-use')).toBe(7)
  })

  it('have the clock of PostgreSQL where that is another, and not what its answer took', async () => {
    new LimitRows(memory).seed()
    aheadMs = 200
    void budgets.start()
    await seconds(1)
    expect(new LimitRows(memory).clockAhead).toBe(0)
    aheadMs = 90_000
    budgets.met()
    await seconds(1)
    expect(new LimitRows(memory).clockAhead).toBe(90_000)
  })

  it('are not spent by a node that was removed: what it was given may have gone to others', async () => {
    const rows = new LimitRows(memory)
    rows.seed()
    void budgets.start()
    const period = { name: '2026-03', number: 3, start: Date.now(), end: Date.now() + 1000 }
    budgets.want({ counter, period, half: 64, most: 100, need: 0, warns: false })
    const row = new AllowanceRow(rows.words, 64, 3)
    row.raise(60, { refill: 30, othersSpent: 0, othersHeld: 0 })
    node.trouble = 'no route'
    budgets.noteCut()
    expect(row.allowance()).toBe(60)
    node.trouble = removed
    budgets.noteCut()
    expect(row.allowance()).toBe(0)
  })

  it('are nobody else’s where the node is alone', async () => {
    node.state = null
    node.trouble = 'no route'
    new LimitRows(memory).seed()
    void budgets.start()
    await seconds(20)
    expect([asked, new LimitRows(memory).cutOff]).toEqual([[], false])
  })
})
