import { expect, it } from 'vitest'
import type { Route, StatsRow } from '../../../src/console/app/areas/outputs.ts'
import { hourQuestions, sumHours } from '../../../src/console/app/areas/routing/route-hours.ts'

const route = (model: string, environment: string | null, project = 'default') =>
  ({ model, project, environment }) as Route
const row = (groups: string[], requests: number, p95: number | null) =>
  ({ groups, requests, errors: 1, duration_p95_ms: p95 }) as StatsRow

it('counts for a route of all environments only what no environment has a route of its own for', () => {
  const shared = route('gpt-4o', null)
  const own = route('gpt-4o', 'production')
  const alone = route('claude', null)
  const elsewhere = route('gpt-4o', null, 'search')
  const all = [shared, own, alone, elsewhere]
  const [forAll, forDefault, ...more] = hourQuestions(all, all)
  expect(more).toEqual([])
  expect(forAll?.input).toEqual({ by: 'project,route', since: '1h' })
  expect(forAll?.routes).toEqual([alone, elsewhere])
  expect(forAll?.isOf(elsewhere, row(['default', 'gpt-4o'], 9, null))).toBe(false)
  expect(forDefault?.input).toEqual({ by: 'environment,route', project: 'default', since: '1h' })
  const rows = [
    row(['production', 'gpt-4o'], 900, 80),
    row(['staging', 'gpt-4o'], 2, 300),
    row(['test', 'gpt-4o'], 3, null),
    row(['test', 'claude'], 50, 10),
  ]
  const hourOf = (asked: Route) => sumHours(rows.filter((one) => forDefault?.isOf(asked, one)))
  expect(hourOf(own)).toMatchObject({ requests: 900 })
  expect(hourOf(shared)).toEqual({ requests: 5, errors: 2, duration_p95_ms: 300 })
  // Where the list is of one environment, the others' routes still count.
  expect(hourQuestions([shared], all)).toHaveLength(1)
  expect(hourQuestions([shared], all)[0]?.input.project).toBe('default')
  expect(hourQuestions([], all)).toEqual([])
})
