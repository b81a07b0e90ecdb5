import { expect, it } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import {
  type CountedCall,
  findBudgetRefusal,
  findMinuteRefusal,
} from '../../src/admin/handlers/routes/count-request.ts'
import { SharedCell } from '../../src/cluster/limits/shared-cell.ts'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit } from '../../src/core/policies/policy-limits.ts'
import { limitUsage } from '../../src/daemon/budgets/limit-usage.ts'
import { AllowanceRow } from '../../src/policy/limits/allowance-row.ts'
import { BucketClock } from '../../src/policy/limits/bucket-clock.ts'
import { LimitCounters } from '../../src/policy/limits/limit-counters.ts'
import { refusedByLimit } from '../../src/policy/limits/limit-faults.ts'
import { createLimitMemory, LimitRows } from '../../src/policy/limits/limit-memory.ts'

const bucket = 170_000_000
const one = { requests: 1, tokens: 10 }
const common = { policy: 'few', scope: 'key:p/e/n', warns: false, perUser: false }

function open() {
  const windows = BucketClock.memory()
  const memory = createLimitMemory(2, { budgets: true, windows })
  const clock = new BucketClock(windows)
  const counters = new LimitCounters(memory, 0, () => 5000)
  counters.seed([])
  clock.publish(bucket, 0, 10_000)
  const runtime = { limitUsage: (limit: Limit, missing?: number) => limitUsage(counters, 'UTC', limit, missing) }
  return { counters, clock, rows: new LimitRows(memory), context: { runtime } as object as AdminContext }
}

const asked = { input: 10, usesTokens: true, user: null } as object as CountedCall

it.each([
  ['requests', 'cut off', 'this one is cut off from the others and has no more of it'],
  ['concurrency', 'cut off', 'this one is cut off from the others and has no more of it'],
  ['requests', 'opening', 'none is given more before all have said what they use'],
] as const)('explains on a node that can be granted no %s (%s) why', (kind, apart, words) => {
  const { counters, clock, rows, context } = open()
  const limit: Limit = { ...common, counter: `pol_1 key_1 ${kind} minute`, kind, period: null, limit: 10 }
  const before = counters.admit([limit], null, one)
  if (!('want' in before) || before.want === null) throw new Error('nothing was given yet')
  const cell = new SharedCell(rows, before.want.row, kind === 'concurrency')
  // The others left eight, when they were heard last.
  cell.answer(8, 0, 0)
  expect(findMinuteRefusal(context, limit, { ...asked, now: Date.now() })).toBeNull()
  clock.publish(bucket, 0, 10_000, apart)
  const refused = counters.admit([limit], null, one)
  expect(refused).toMatchObject({ apart })
  const found = findMinuteRefusal(context, limit, { ...asked, now: Date.now() })
  expect(found).toMatchObject({ apart })
  if (found !== null) expect(refusedByLimit(found).fault.message).toContain(words)
  // What it was given before passes all the same.
  cell.put(kind === 'concurrency' ? 0 : bucket, 1)
  expect(findMinuteRefusal(context, limit, { ...asked, now: Date.now() })).toBeNull()
  expect(counters.admit([limit], null, one)).toHaveProperty('taken')
})

it('explains of a budget that a node which is cut off has no more of it, whatever is left', () => {
  const { counters, rows, context } = open()
  const limit: Limit = { ...common, counter: 'pol_1 key_1 usd day', kind: 'usd', period: 'day', limit: 1000 }
  const admit = () => {
    const hold = counters.admit([limit], null, one)
    if (!('taken' in hold)) throw new Error('refused')
    return counters.holdBudgets(hold, { usd: 100n, tokens: 1 }, { timeZone: 'UTC', now: Date.now() })
  }
  const price = fillPrice({ model: 'm', source: 'set', version: 'v', input: 0.01, output: 0 })
  const expected = { price, input: 10, output: 0, grows: false }
  const explain = () => findBudgetRefusal(context, [limit], expected, { user: null, now: Date.now() })
  const want = admit()?.want
  if (want == null) throw new Error('nothing is wanted')
  const row = new AllowanceRow(rows.words, want.half, want.period.number)
  row.raise(150, { refill: 75, othersSpent: 200, othersHeld: 300 })
  expect(explain()).toBeNull()
  rows.cutOff = true
  expect(explain()).toBeNull()
  expect(admit()).toBeNull()
  // 100 of the 150 are held, and 400 are nobody's.
  expect([explain()?.why, admit()?.why]).toEqual(['cut off', 'cut off'])
  row.note(200, 750)
  expect([explain()?.why, admit()?.why]).toEqual(['cut off', 'cut off'])
  rows.cutOff = false
  expect([explain()?.why, admit()?.why]).toEqual(['held', 'held'])
})
