import { expect, it } from 'vitest'
import type { Limit } from '../../../src/core/policies/policy-limits.ts'
import { LimitCounters, type LimitHold } from '../../../src/policy/limits/limit-counters.ts'
import { createLimitMemory } from '../../../src/policy/limits/limit-memory.ts'
import { restoreBudgets } from '../../../src/policy/limits/restore-budgets.ts'

const counter = 'pol_1 workspace usd day'
const kind = { policy: 'team', scope: 'workspace', kind: 'usd', period: 'day' } as const
const limits: readonly Limit[] = [{ ...kind, limit: 100, warns: false, perUser: false, counter }]
const noon = Date.UTC(2026, 10, 23, 12)
const day = 86_400_000

function make() {
  const memory = createLimitMemory(3)
  const one = new LimitCounters(memory, 0, () => 1_000_000)
  const other = new LimitCounters(memory, 1, () => 1_000_000)
  one.seed([])
  return { one, other, moment: { timeZone: 'UTC', now: noon } }
}

function open(counters: LimitCounters): LimitHold {
  const hold = counters.admit(limits, null, { requests: 1, tokens: 0 })
  if (!('taken' in hold)) throw new Error('refused')
  return hold
}

const need = (usd: number) => ({ usd: BigInt(usd), tokens: 1 })

it('counts what still runs since before the clock was ahead and set back, once', () => {
  const { one, other, moment } = make()
  const [long, ended] = [open(one), open(other)]
  expect(one.holdBudgets(long, need(30), moment)).toBeNull()
  expect(other.holdBudgets(ended, need(20), moment)).toBeNull()
  const ahead = { ...moment, now: noon + 2 * day }
  const late = open(one)
  expect(one.holdBudgets(late, need(40), ahead)).toBeNull()
  ended.actual = need(15)
  other.release(ended)
  // The store was read before that one ended.
  const day23 = '2026-11-23'
  restoreBudgets(one.budgetParts, [[counter, day23, 15]], [], [[counter, day23, 30]])
  const use = () => limits.map((limit) => other.budgetUse(limit, moment))[0]
  expect(use()).toMatchObject({ used: 15, held: 30, holders: 1 })
  restoreBudgets(one.budgetParts, [[counter, day23, 15]], [], [[counter, day23, 30]])
  expect(use()).toMatchObject({ used: 15, held: 30, holders: 1 })
  late.actual = need(40)
  one.release(late)
  long.actual = need(25)
  one.release(long)
  expect(use()).toMatchObject({ used: 40, held: 0, holders: 0 })
  restoreBudgets(one.budgetParts, [[counter, day23, 40]], [], [[counter, day23, 30]])
  expect(use()).toMatchObject({ used: 40, held: 0, holders: 0 })
})
