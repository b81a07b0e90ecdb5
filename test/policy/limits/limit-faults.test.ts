import { expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policy-limits.ts'
import { refusedByBudget } from '../../../src/policy/limits/budget-faults.ts'
import { refusedByLimit } from '../../../src/policy/limits/limit-faults.ts'

const shared: Limit = {
  ...{ counter: 'pol_1 project:web requests', policy: 'fair', scope: 'project:web', kind: 'requests', period: null },
  ...{ limit: 5, warns: false, perUser: false },
}
const own: Limit = { ...shared, perUser: true }

it('says whose requests use a limit up: those of all, or of each end user', () => {
  const said = (limit: Limit) => refusedByLimit({ limit, amount: 1, used: 5, waitMs: 1000 }).fault.message
  expect(said(shared)).toContain('allows 5 requests a minute for project:web.')
  expect(said(own)).toContain('allows 5 requests a minute for each end user of project:web.')
})

it('says the same of a budget', () => {
  const use = { used: 5, held: 0, holders: 0 }
  const said = (limit: Limit) =>
    refusedByBudget({ limit, period: { end: 0 }, need: 1n, most: 5, use, why: 'spent' }, null).fault.message
  const tokens = { kind: 'tokens', period: 'day' } as const
  expect(said({ ...shared, ...tokens })).toContain('allows 5 tokens a day for project:web.')
  expect(said({ ...own, ...tokens })).toContain('allows 5 tokens a day for each end user of project:web.')
})
