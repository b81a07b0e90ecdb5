import { describe, expect, test } from 'vitest'
import { compilePolicies, effectivePolicy } from '../../../src/policy/admit.ts'
import type { SnapshotPolicy } from '../../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeKey } from '../../support/snapshot.ts'

const key = makeKey({ name: 'ci', projectId: 'prj_a', environmentId: 'env_a', policyId: 'pol_own' })

function limitsOf(...policies: SnapshotPolicy[]) {
  return effectivePolicy(compilePolicies(makeConfiguration({ policies })), key).limits
}

const nowhere = { workspace: false, ids: [] }

describe('limits of a key', () => {
  test('has none where no policy limits an amount', () => {
    expect(limitsOf({ id: 'pol_own', name: 'own', attachedTo: nowhere, rpm: null })).toBeNull()
  })

  test('lists them from narrow to wide, each with a counter of its own', () => {
    const limits = limitsOf(
      { id: 'pol_all', name: 'all', attachedTo: { workspace: true, ids: [] }, concurrency: 4, rpm: 60 },
      { id: 'pol_own', name: 'own', attachedTo: nowhere, rpm: 10, budgetUsdDay: 0.05 },
    )
    expect(limits?.map(({ counter, scope, limit }) => [counter, scope, limit])).toEqual([
      ['pol_own key_1 requests minute', 'key:a/production/ci', 10],
      ['pol_own key_1 usd day', 'key:a/production/ci', 50_000_000],
      ['pol_all workspace concurrency minute', 'workspace', 4],
      ['pol_all workspace requests minute', 'workspace', 60],
    ])
  })

  test('carries what is granted to budgets in USD, and to nothing else', () => {
    const grants = [{ usd: 0.5, until: '2026-11-24T00:00:00Z' }]
    const limits = limitsOf({ id: 'pol_own', name: 'own', attachedTo: nowhere, rpm: 1, budgetUsdDay: 1, grants })
    expect(limits?.map((limit) => limit.grants)).toEqual([
      undefined,
      [{ amount: 500_000_000, until: Date.UTC(2026, 10, 24) }],
    ])
  })

  test('counts a policy apart at each place where it is attached', () => {
    const limits = limitsOf({
      id: 'pol_own',
      name: 'own',
      attachedTo: { workspace: false, ids: ['prj_a', 'env_a'] },
      rpm: 10,
    })
    expect(limits?.map(({ counter }) => counter)).toEqual([
      'pol_own key_1 requests minute',
      'pol_own env_a requests minute',
      'pol_own prj_a requests minute',
    ])
  })

  test('gives each key a counter where the policy says so', () => {
    const attachedTo = { workspace: true, ids: ['prj_a'] }
    const limits = limitsOf({ id: 'pol_own', name: 'own', attachedTo, rpm: 10, per: 'key' })
    expect(limits?.map(({ counter }) => counter)).toEqual(['pol_own key_1 requests minute'])
  })
})
