import { expect, it } from 'vitest'
import { formatValue } from '../../src/admin/contract/show-value.ts'

const clock = { now: Date.parse('2026-11-27T14:00:05Z'), utc: false }
const well = { server: 'cache:6379', trouble: null, since: null, meanwhile: 'share' }
const away = { ...well, trouble: 'no\u001b route', since: '2026-11-27T14:00:00Z' }

it.each([
  [well, 'cache:6379'],
  [
    away,
    'cache:6379 cannot be used, noticed 5 s ago: no\\u001b route; meanwhile this node lets its part of each limit pass (nothing in the first 73 s after a start)',
  ],
  [
    { ...away, trouble: 'OOM', meanwhile: 'refuse' },
    'cache:6379 cannot be used, noticed 5 s ago: OOM; meanwhile nothing of shared limits passes here',
  ],
  [
    { ...well, opening_until: '2026-11-27T14:01:00Z' },
    'cache:6379; not all nodes have said yet what they use of shared limits: requests that need more than a node holds are refused (rate_limited). This ends by itself, at the latest in 55 s',
  ],
])('how the server is by which nodes share limits: %j', (valkey, words) => {
  expect(formatValue(valkey, 'text', clock)).toBe(words)
})
