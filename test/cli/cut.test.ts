import { expect, it } from 'vitest'
import { renderTable } from '../../cli/print/table.ts'
import { makePaint } from '../../cli/print/view.ts'
import { limitColumns } from '../../src/admin/contract/show-limit.ts'

const view = { now: 0, paint: makePaint(false), width: null, utc: false }

it('leaves out where a limit applies before what is used of it, and of how much', () => {
  const limits = [
    { policy: 'team', scope: 'project:default', kind: 'usd', period: 'month', used: 0.003, limit: 7.5 },
    { policy: 'per-key-limits', scope: 'key:support/production/bot', kind: 'tokens', period: 'day', used: 18_204 },
    { policy: 'per-key-limits', scope: 'key:support/staging/bot', kind: 'requests', period: null, used: 2, limit: 60 },
  ].map((limit) => ({ held: 0, limit: 40_000, resets_at: '1970-01-01T12:00:00Z', ...limit }))
  const at = (width: number) => renderTable(limitColumns, limits, { ...view, width }).split('\n')
  expect(at(72).slice(0, 3)).toEqual([
    'POLICY          LIMIT              USED             OF      RESETS',
    'team            USD a month        $0.003 (< 0.1%)  $7.50   in 12 h',
    'per-key-limits  tokens a day       18,204 (45%)     40,000  in 12 h',
  ])
  expect(at(80)[2]).toBe('per-key-limits  key:s…n/bot  tokens a day       18,204 (45%)     40,000  in 12 h')
  expect(at(88)[2]).toBe('per-key-limits  key:support/pr…/bot  tokens a day       18,204 (45%)     40,000  in 12 h')
})

it('shortens a scope last and in its middle, so that its project and its key stay', () => {
  const usage = (scope: string) => ({
    ...{ policy: 'per-key-limits', scope, kind: 'requests', period: null, used: 0, held: null, limit: 6000 },
    resets_at: null,
  })
  const scopes = ['key:support/production/bot', 'key:support/staging/bot', 'key:support/production/robot']
  const at = (width: number) =>
    renderTable(limitColumns, scopes.map(usage), { ...view, width })
      .split('\n')
      .slice(1, -1)
      .map((line) => /key:\S+/.exec(line)?.[0])
  expect(at(100)).toEqual(scopes)
  expect(at(80)).toEqual(['key:support/produ…/bot', 'key:support/stagi…/bot', 'key:support/pro…/robot'])
  expect(at(75)).toEqual(['key:supp…tion/bot', 'key:supp…ging/bot', 'key:supp…on/robot'])
})
