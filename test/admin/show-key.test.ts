import { describe, expect, it } from 'vitest'
import { type KeyNames, showKey } from '../../src/admin/handlers/keys/show-key.ts'
import type { Key } from '../../src/store/api.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const [before, at, after] = ['2026-03-01T11:59:59Z', '2026-03-01T12:00:00Z', '2026-03-01T12:00:01Z']

const key: Key = {
  id: 'key_1',
  projectId: 'prj_1',
  environmentId: 'env_1',
  name: 'ci',
  policyId: 'pol_1',
  tags: { team: 'search' },
  secrets: [{ hash: 'h', lastFour: 'a1b2', expiresAt: null }],
  createdAt: before,
  createdBy: 'anna',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
}
const names: KeyNames = {
  project: (id) => `project of ${id}`,
  environment: (id) => `environment of ${id}`,
  provider: (id) => `provider of ${id}`,
  policy: (id) => `policy of ${id}`,
  owned: () => ({}),
}
const shown = (change: Partial<Key>) => showKey({ ...key, ...change }, names, now)

describe('a key as it is shown', () => {
  it.each<[string, Partial<Key>, string]>([
    ['without an end', {}, 'active'],
    ['with an end to come', { expiresAt: after }, 'active'],
    ['that ends now', { expiresAt: at }, 'expired'],
    ['that has ended', { expiresAt: before }, 'expired'],
    ['that was revoked before its end', { revokedAt: before, expiresAt: after }, 'revoked'],
    ['that was revoked after its end', { revokedAt: at, expiresAt: before }, 'revoked'],
  ])('%s is in the right state', (_what, change, state) => {
    expect(shown(change).state).toBe(state)
  })

  it.each([
    [null, null],
    [before, null],
    [at, null],
    [after, after],
  ])('tells until when its former secret works, while it does: %s', (expiresAt, grace) => {
    const former = { hash: 'f', lastFour: 'old1', expiresAt }
    const { last_four, grace_ends_at } = shown({ secrets: [...key.secrets, former] })
    expect([last_four, grace_ends_at]).toEqual(['a1b2', grace])
  })

  it('has names in place of ids, and no hash of a secret', () => {
    expect(shown({})).toMatchObject({ project: 'project of prj_1', policy: 'policy of pol_1' })
    expect(shown({ policyId: null, secrets: [] })).toMatchObject({ policy: null, last_four: '' })
    expect(JSON.stringify(shown({}))).not.toContain('hash')
  })
})
