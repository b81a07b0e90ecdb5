import { describe, expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { refusedByBudget } from '../../../src/policy/limits/budget-faults.ts'
import { refusedByLimit } from '../../../src/policy/limits/limit-faults.ts'

const shared: Limit = {
  ...{ counter: 'pol_1 project:web requests', policy: 'fair', scope: 'project:web', kind: 'requests', period: null },
  ...{ limit: 5, warns: false, perUser: false },
}
const own: Limit = { ...shared, perUser: true }

it('says whose requests use a limit up: those of all, or of each end user', () => {
  const said = (limit: Limit) => refusedByLimit({ limit, amount: 1, used: 5, waitMs: 1000, apart: null }).fault.message
  expect(said(shared)).toContain('allows 5 requests a minute for the project web.')
  expect(said(own)).toContain('allows 5 requests a minute for each end user of the project web.')
})

it('says the same of a budget', () => {
  const use = { used: 5, held: 0, holders: 0 }
  const said = (limit: Limit) =>
    refusedByBudget({ limit, period: { end: 0 }, need: 1n, most: 5, use, why: 'spent' }, null).fault.message
  const tokens = { kind: 'tokens', period: 'day' } as const
  expect(said({ ...shared, ...tokens })).toContain('allows 5 tokens a day for the project web.')
  expect(said({ ...own, ...tokens })).toContain('allows 5 tokens a day for each end user of the project web.')
})

it('says of a budget whose rest running requests and other nodes hold that both do', () => {
  const budget: Limit = { ...shared, kind: 'tokens', period: 'day' }
  const said = (elsewhere: number) => {
    const use = { used: 0, held: 5, holders: 1, shared: { elsewhere, free: 0 } }
    return refusedByBudget({ limit: budget, period: { end: 0 }, need: 1n, most: 5, use, why: 'held' }, null).fault
      .message
  }
  expect(said(0)).toContain('and 1 running request holds what is left; try again when one has ended.')
  expect(said(4)).toContain('and 1 running request here and other nodes of the cluster hold what is left; try again in')
})

describe('a scope in the message to a client is said in words, on the record as it is written', () => {
  it.each([
    ['key:support/production/bot', 'the key bot'],
    ['environment:support/staging', 'the environment staging'],
    ['project:support', 'the project support'],
    ['workspace', 'the workspace'],
  ])('%s', (scope, words) => {
    const limit = { ...shared, scope }
    const limited = refusedByLimit({ limit, amount: 1, used: 5, waitMs: 1000, apart: null })
    expect(limited.fault.message).toMatch(`allows 5 requests a minute for ${words}.`)
    expect(limited.signal.text).toMatch(`allows 5 requests a minute for ${scope}.`)
    const use = { used: 5, held: 0, holders: 0 }
    const budget: Limit = { ...limit, kind: 'tokens', period: 'day', perUser: true }
    const refusal = { limit: budget, period: { end: 0 }, need: 1n, most: 5, use, why: 'spent' } as const
    const spent = refusedByBudget(refusal, null)
    expect(spent.fault.message).toMatch(`allows 5 tokens a day for each end user of ${words}.`)
    expect(spent.signal.text).toMatch(`allows 5 tokens a day for each end user of ${scope}.`)
  })
})

describe('of a limit that nodes share, a node that can be granted nothing says so, and not that it is used up', () => {
  const refuse = (
    apart: 'cut off' | 'opening' | 'closed' | 'unheard' | 'held' | null,
    kind: 'requests' | 'concurrency' = 'requests',
  ) => refusedByLimit({ limit: { ...shared, kind }, amount: 1, used: 5, waitMs: 4200, apart })

  it.each([
    ['cut off', 'requests', 'this one is cut off from the others and has no more of it; try again in 5 seconds.'],
    ['cut off', 'concurrency', 'this one is cut off from the others and has no more of it; try again in 5 seconds.'],
    ['opening', 'requests', 'none is given more before all have said what they use; try again in 5 seconds.'],
    ['unheard', 'requests', 'no answer came in time; try again in 5 seconds.'],
    // Of this no clock knows when it ends.
    ['closed', 'requests', 'this one lets nothing pass before it reaches the others again; try again later.'],
  ] as const)('%s, %s', (apart, kind, words) => {
    const { fault, signal } = refuse(apart, kind)
    expect(fault).toMatchObject({ code: 'rate_limited', retryAfterMs: 4200 })
    expect(signal.data?.used).toBeNull()
    for (const text of [fault.message, signal.text]) {
      expect(text).toContain(`The nodes of the cluster share this limit, and ${words}`)
      expect(text).not.toMatch(/used up|As many are running/)
    }
  })

  it('says that it is used up where it is', () => {
    const { fault, signal } = refuse(null)
    expect(fault.message).toContain('They are used up; try again in 5 seconds.')
    expect(fault.message).not.toMatch(/cluster|cut off/)
    expect(signal.data?.used).toBe(5)
  })

  it.each([
    ['requests', 'They are used up, or nodes of the cluster hold the rest; try again in 5 seconds.'],
    ['concurrency', 'As many are running, or nodes of the cluster hold the rest; wait for one of them to end'],
  ] as const)('says where nodes share it that they may hold what is not used: %s', (kind, words) => {
    const { fault, signal } = refuse('held', kind)
    expect(fault.message).toContain(words)
    expect(signal.data?.used).toBe(5)
  })
})

it('says of a budget that nodes share that this one is cut off, and that another may answer', () => {
  const limit: Limit = { ...shared, kind: 'tokens', period: 'day' }
  const use = { used: 1, held: 0, holders: 0 }
  const { fault, signal } = refusedByBudget({ limit, period: { end: 0 }, need: 3n, most: 5, use, why: 'cut off' }, null)
  expect(fault).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 })
  for (const text of [fault.message, signal.text]) {
    expect(text).toContain(
      'This request may need 3 tokens. The nodes of the cluster share this budget, and this one is',
    )
    expect(text).toMatch(/is cut off from the others .*; try again, another node may answer\.$/)
  }
})

it('says of a budget of 0 that nothing passes, and not that it will after its reset', () => {
  const limit: Limit = { ...shared, kind: 'usd', period: 'day' }
  const use = { used: 0, held: 0, holders: 0 }
  const { fault } = refusedByBudget({ limit, period: { end: 0 }, need: 1n, most: 0, use, why: 'spent' }, null)
  expect(fault).toMatchObject({
    code: 'budget_exceeded',
    message: expect.stringMatching(/So nothing passes; ask the operator\.$/),
  })
})

it('writes the smallest amount of a budget in USD with all its digits', () => {
  const limit: Limit = { ...shared, kind: 'usd', period: 'day' }
  const use = { used: 20, held: 0, holders: 0 }
  const { fault } = refusedByBudget({ limit, period: { end: 0 }, need: 1n, most: 5100, use, why: 'spent' }, null)
  expect(fault.message).toContain('allows 0.0000051 USD a day')
  expect(fault.message).toContain('may need 0.000000001 USD, and 0.00000002 are used')
})
