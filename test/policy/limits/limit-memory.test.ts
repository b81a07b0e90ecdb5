import { expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, LimitRows, readUserCounter } from '../../../src/policy/limits/limit-memory.ts'

it('of 100,000 keys with both windows and a monthly budget is at most 60 MB', () => {
  const memory = createLimitMemory(1)
  const counters = new LimitCounters(memory, 0, () => 1_000_000)
  counters.seed([])
  const keys = 2000
  const common = { policy: 'team', scope: '', limit: 1000, warns: false, perUser: false }
  for (let key = 0; key < keys; key++) {
    const limits: Limit[] = [
      { ...common, counter: `pol_1 key_${key} requests minute`, kind: 'requests', period: null },
      { ...common, counter: `pol_1 key_${key} tokens minute`, kind: 'tokens', period: null },
      { ...common, counter: `pol_1 key_${key} usd month`, kind: 'usd', period: 'month' },
    ]
    const hold = counters.admit(limits, null, { requests: 1, tokens: 10 })
    if (!('taken' in hold)) throw new Error('refused')
    expect(counters.holdBudgets(hold, { usd: 1n, tokens: 1 }, { timeZone: 'UTC', now: 1_700_000_000_000 })).toBeNull()
    counters.release(hold)
  }
  // Rows are made one behind the other; the first word says how far.
  const [used = 0n] = new BigInt64Array(memory.words)
  const each = (Number(used) * 8) / keys
  expect(each).toBeGreaterThan(3 * 8)
  expect(each * 100_000 + memory.index.byteLength).toBeLessThanOrEqual(60e6)
})

it('is found whole by threads that began when there was less of it', () => {
  const memory = createLimitMemory(2)
  const [before, other] = [new LimitRows(memory), new LimitRows(memory)]
  const first = memory.words.byteLength
  const names = Array.from({ length: 1000 }, (_, index) => `pol_1 key_${index} tokens minute`)
  const rows = names.map((name) => other.make(name, 33))
  expect(memory.words.byteLength).toBeGreaterThan(first)
  const last = rows.at(-1)!
  Atomics.store(other.words, last + 2, 7n)
  expect(before.find(names.at(-1)!)).toBe(last)
  expect(Atomics.load(before.words, last + 2)).toBe(7n)
  expect(Atomics.load(before.cells, (last + 2) * 2)).toBe(7)
})

it('is found where another thread told a place, and whatever a dead thread held there is given back', () => {
  const memory = createLimitMemory(2)
  const [control, thread] = [new LimitCounters(memory, 1), new LimitCounters(memory, 0)]
  const told = new LimitRows(memory)
  const limits = Array.from({ length: 4000 }, (_, index): Limit => {
    const counter = `pol_1 key_${index} concurrency minute`
    return {
      counter,
      policy: 'team',
      scope: '',
      kind: 'concurrency',
      period: null,
      limit: 2,
      warns: false,
      perUser: false,
    }
  })
  const hold = thread.admit(limits, null, { requests: 1, tokens: 0 })
  expect('taken' in hold).toBe(true)
  // Where the name of a row leads differs from run to run: one of these lies beyond what was told.
  const rows = new LimitRows(memory)
  const beyond = limits.find(({ counter }) => rows.find(counter)! > told.words.length)!
  const row = rows.find(beyond.counter)!
  told.follow()
  expect(Atomics.load(told.words, row + 2)).toBe(1n)
  control.reverseThread(0)
  expect(control.used(beyond)).toBe(0)
})

it('tells all threads what the cluster says, of which nothing is taken for anything else', () => {
  const memory = createLimitMemory(2)
  const [one, other] = [new LimitRows(memory), new LimitRows(memory)]
  const told = () => [other.clockAhead, other.cutOff, other.seeded]
  expect(told()).toEqual([0, false, false])
  one.clockAhead = 200_000_000.6
  expect(told()).toEqual([200_000_001, false, false])
  one.cutOff = true
  expect(told()).toEqual([200_000_001, true, false])
  one.seed()
  one.cutOff = false
  expect(told()).toEqual([200_000_001, false, true])
  const tokens = 'pol_1 key_1 tokens minute'
  expect(one.makeForUser(tokens, 'ann', 33)?.counter).toBe(`${tokens} ann`)
  expect(one.findForUser(tokens, 'ann')).toBe(other.find(`${tokens} ann`))
  expect(one.findForUser(tokens, 'bob')).toBeNull()
})

it('knows whose an end user’s counter is, whatever he is called', () => {
  const counter = 'pol_1 key_1 tokens minute'
  for (const user of ['ann', '', 'ann of\naccounts', '/others'])
    expect(readUserCounter(`${counter} ${user}`)).toEqual({ counter, user })
  for (const name of [counter, `${counter}/others`, `${counter}/users`]) expect(readUserCounter(name)).toBeNull()
})
