import { expect, it } from 'vitest'
import { endsAccess } from '../../../src/store/replica/shared-tables.ts'

const row = (name: string, row: object | null) => ({ name, key: '[]', row: row && JSON.stringify(row) })

it.each([
  [row('keys', { id: 'key_1', revoked_at: '2026-03-10T12:00:00Z' }), true],
  [row('keys', { id: 'key_1', revoked_at: null }), false],
  [row('keys', null), true],
  [row('key_secrets', null), true],
  [row('removed_key_hashes', { hash: 'x' }), true],
  [row('api_tokens', { id: 'tok_1', revoked_at: '2026-03-10T12:00:00Z' }), true],
  [row('api_tokens', { id: 'tok_1', revoked_at: null }), false],
  [row('sessions', null), true],
  [row('operators', { id: 'opr_1', state: 'disabled' }), true],
  [row('operator_roles', { role: 'viewer' }), true],
  [row('routes', null), false],
  [row('audit', { sequence: 1 }), false],
])('of the rows of a change says whether it may end access: %j', (one, ends) => {
  expect(endsAccess([row('projects', {}), one])).toBe(ends)
})

it('says nothing of no rows', () => {
  expect(endsAccess([])).toBe(false)
})
