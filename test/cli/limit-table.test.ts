import { expect, it } from 'vitest'
import { renderTable } from '../../cli/print/table.ts'
import type { View } from '../../cli/print/view.ts'
import { limitColumns } from '../../src/admin/contract/show-limit.ts'

const view = (width: number): View => ({
  ...{ width, now: Date.parse('2026-11-29T12:00:00Z'), utc: true },
  paint: (_, text) => text,
})
const row = (policy: string, scope: string) => ({
  ...{ policy, scope, kind: 'usd', period: 'month', used: 1, held: 0, limit: 5, resets_at: '2026-12-01T00:00:00Z' },
})
const names = ['bot', 'crawler', 'nightly-job']
const perKey = names.map((name) => row('per-key', `key:support/production/${name}`))

it.each([40, 50, 60, 71, 80, 100])('the limits of one policy for each key are told apart in %d columns', (width) => {
  const lines = renderTable(limitColumns, perKey, view(width)).trimEnd().split('\n')
  expect(lines[0]).toContain('APPLIES TO')
  expect(new Set(lines).size).toBe(names.length + 1)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width)
})

it('where policies tell the rows apart, figures stay rather than where they apply', () => {
  const rows = names.map((name) => row(name, 'key:support/production/bot'))
  const [head] = renderTable(limitColumns, rows, view(50)).split('\n')
  expect(head).toMatch(/^POLICY .*USED .*OF/)
  expect(head).not.toContain('APPLIES TO')
})
