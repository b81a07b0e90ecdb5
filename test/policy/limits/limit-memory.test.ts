import { expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policy-limits.ts'
import { LimitCounters } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../../src/policy/limits/limit-memory.ts'

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
