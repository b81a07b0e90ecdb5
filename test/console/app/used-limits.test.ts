import { describe, expect, it } from 'vitest'
import { allLimits, isWithin, sayUncounted } from '../../../src/console/app/areas/keys/used-limits.ts'

describe('whether requests of a part of the workspace count at a limit', () => {
  const search = { project: 'search' }
  const staging = { project: 'search', environment: 'staging' }

  it.each([
    ['workspace', {}, true],
    ['workspace', staging, true],
    ['project:search', {}, true],
    ['project:search', search, true],
    ['project:search', staging, true],
    ['project:sear', search, false],
    ['project:research', search, false],
    ['environment:search/staging', search, true],
    ['environment:search/staging', staging, true],
    ['environment:search/production', staging, false],
    ['environment:other/staging', staging, false],
    ['key:search/staging/ci', staging, true],
    ['key:search/production/ci', staging, false],
    ['key:search/staging/a:b', staging, true],
  ])('%s, of %j: %s', (scope, part, counts) => {
    expect(isWithin({ scope }, part)).toBe(counts)
  })
})

it('budgets come before limits a minute, and of what is not known there are none', () => {
  const place = { policy: 'p', scope: 'workspace', used: 0, limit: 1, resets_at: '' }
  const limits = [{ ...place, kind: 'requests' as const }]
  const periods = [{ ...place, kind: 'usd' as const, period: 'day' as const, held: 0 }]
  expect(allLimits({ limits, periods }).map(({ kind }) => kind)).toEqual(['usd', 'requests'])
  expect(allLimits(null)).toEqual([])
})

describe('what budgets lack while this node does not know what the others spend', () => {
  const budgets = [{ policy: 'team' }]
  const since = '2026-03-10T03:04:05.000Z'
  const degraded = (...parts: string[]) => parts.map((part) => ({ part, since }))
  const lacking = (reason: string) =>
    `What other nodes have spent since 03:04 UTC is not in these budgets: ${reason}. See spgw status.`

  it.each([
    [['postgres'], 'this one cannot use PostgreSQL'],
    [['valkey', 'postgres', 'outbox'], 'this one cannot use PostgreSQL'],
    [['membership', 'postgres'], 'this one was removed from the cluster'],
  ])('%j: it is said', (parts, reason) => {
    expect(sayUncounted(budgets, degraded(...parts))).toBe(lacking(reason))
  })

  it('nothing is said where all is well, where something else is wrong, and where there are no budgets', () => {
    expect(sayUncounted(budgets, [])).toBe(null)
    expect(sayUncounted(budgets, degraded('records', 'journal', 'valkey'))).toBe(null)
    expect(sayUncounted([], degraded('postgres'))).toBe(null)
  })
})
