import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Limit } from '../../src/core/policies/policy-limits.ts'
import { holdAsking } from '../../src/gateway/upstream/hold-shared.ts'
import { AllowanceRow } from '../../src/policy/limits/allowance-row.ts'
import { LimitCounters } from '../../src/policy/limits/limit-counters.ts'
import { createLimitMemory, LimitRows } from '../../src/policy/limits/limit-memory.ts'

const budget: Limit = {
  ...{ counter: 'pol_1 workspace usd day', policy: 'team', scope: 'workspace', kind: 'usd', period: 'day' },
  ...{ limit: 1000, warns: false, perUser: false },
}

/** Asks for the first part of a budget, which comes after so long; null: never. */
async function holdFirst(answersAfterMs: number | null) {
  const memory = createLimitMemory(3, { budgets: true, windows: null })
  const rows = new LimitRows(memory)
  const counters = new LimitCounters(
    memory,
    0,
    () => 1_000_000,
    async ({ half, period }) => {
      if (answersAfterMs === null) return
      await wait(answersAfterMs)
      const row = new AllowanceRow(rows.words, half, period.number)
      row.raise(100, { refill: 50, othersSpent: 0, othersHeld: 0 })
      row.wake()
    },
  )
  counters.seed([])
  const hold = counters.admit([budget], null, { requests: 1, tokens: 0 })
  if (!('taken' in hold)) throw new Error('refused')
  return await holdAsking(counters, hold, { usd: 10n, tokens: 1 }, { timeZone: 'UTC', now: Date.now() })
}

it('waits for the first part of a budget also where PostgreSQL is far away, and not for ever', async () => {
  expect(await holdFirst(0)).toBeNull()
  expect(await holdFirst(400)).toBeNull()
  const begun = performance.now()
  expect(await holdFirst(null)).toMatchObject({ why: 'apart' })
  expect(performance.now() - begun).toBeLessThan(1500)
})
