import { expect, it } from 'vitest'
import { fieldTitles } from '../../src/admin/contract/field-titles.ts'
import type { Show } from '../../src/admin/contract/operation.ts'
import { formatPart, limitColumns } from '../../src/admin/contract/show-limit.ts'
import { rowsOf } from '../../src/admin/contract/show-rows.ts'
import { formatCell, formatValue } from '../../src/admin/contract/show-value.ts'
import { policyRules } from '../../src/core/policies/policy-rules.ts'

const clock = { now: 0, utc: false }
const place = { policy: 'team', scope: 'project:search', resets_at: null }
const requests = { ...place, kind: 'requests', used: 12, limit: 60 }
const spend = { ...place, kind: 'usd', period: 'month', used: 42.1, held: 0.02, limit: 200 }

it.each([
  [requests, '12 of 60 requests a minute'],
  [{ ...place, kind: 'concurrency', used: 1, limit: 5 }, '1 of 5 requests at once'],
  [{ ...place, kind: 'tokens', period: 'day', used: 18_204, held: 0, limit: 40_000 }, '18,204 of 40,000 tokens a day'],
  [spend, '$42.10 of $200.00 a month, $0.02 held'],
  [{ ...requests, used_includes_held: true }, '12 of 60 requests a minute used or held'],
  [{ ...requests, used: 0, used_includes_held: true }, '0 of 60 requests a minute'],
  [{ ...requests, used: null }, '60 requests a minute for each end user'],
])('a limit in words: %j', (limit, words) => {
  expect(formatValue(limit, 'text', clock)).toBe(`project search: ${words}`)
  expect(formatValue([limit], 'list', clock)).toBe(`project search: ${words}`)
})

it('of many limits the one nearest to its end, with what is held', () => {
  const full = { ...place, kind: 'concurrency', used: 5, limit: 5 }
  expect(formatValue([requests, full, spend], 'nearest', clock)).toBe('5 of 5 requests at once (+2)')
  expect(formatValue([requests], 'nearest', clock)).toBe('12 of 60 requests a minute')
  const held = { ...spend, used: 10, held: 180 }
  expect(formatValue([requests, held], 'nearest', clock)).toBe('$10.00 of $200.00 a month, $180.00 held (+1)')
  expect(formatValue([], 'nearest', clock)).toBe('–')
})

it('a row for each limit of each policy, budgets first', () => {
  const show: Show = { as: 'table', columns: limitColumns, rows: ['periods limits'], empty: '' }
  const rows = rowsOf(show, [
    { policy: 'team', periods: [spend], limits: [requests, { ...requests, used_includes_held: true }] },
  ])
  expect(rows.map((row) => limitColumns.map((column) => formatCell(row, column, clock)))).toEqual([
    ['team', 'project:search', 'USD a month', '$42.10 (21%)', '$0.02', '$200.00', '–'],
    ['team', 'project:search', 'requests a minute', '12 (20%)', '–', '60', '–'],
    ['team', 'project:search', 'requests a minute', '12 (20%) used or held', '–', '60', '–'],
  ])
})

it.each([
  [201.2, 200, '100%'],
  [202, 200, '101%'],
  [199.9, 200, '99%'],
  [0.024, 0.03, '80%'],
  [0.2, 200, '0.1%'],
])('%d of %d is the %s that its alert says', (used, limit, percent) => {
  expect(formatPart(used, limit)).toBe(percent)
})

it.each(['rpm', 'tpm', 'concurrency'] as const)('%s is called in forms what it is called in answers', (rule) => {
  expect(policyRules[rule].meta.label).toBe(fieldTitles[rule])
})
