import { expect, it } from 'vitest'
import { renderTable } from '../../cli/print/table.ts'
import { makePaint } from '../../cli/print/view.ts'
import { limitColumns } from '../../src/admin/contract/show-limit.ts'

const view = { now: 0, paint: makePaint(false), width: null, utc: false }

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
