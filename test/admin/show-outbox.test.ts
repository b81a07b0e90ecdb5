import { expect, it } from 'vitest'
import { formatValue } from '../../src/admin/contract/show-value.ts'

const clock = { now: Date.parse('2026-11-27T14:00:05Z'), utc: false }
const nothing = { records: 0, since: null, usage: 0, usage_since: null, history: false, trouble: null }
const since = '2026-11-27T14:00:00Z'

it.each([
  [nothing, 'nothing'],
  [{ ...nothing, records: 1, since }, '1 record, the oldest 5 s ago'],
  // An older gateway says nothing of usage.
  [
    { records: 4500, since, history: true, trouble: null },
    '4,500 records, the oldest 5 s ago; records from before they were shared',
  ],
  [{ ...nothing, since }, 'captured bodies, the oldest 5 s ago'],
  [{ ...nothing, usage: 1, usage_since: since }, 'usage of 1 batch or response'],
  [
    { ...nothing, records: 3, since, usage: 2, trouble: 'no\u001b room' },
    '3 records, the oldest 5 s ago; usage of 2 batches or responses: no',
  ],
])('what a node has not shared yet: %j', (outbox, words) => {
  const shown = formatValue(outbox, 'text', clock)
  expect(shown.startsWith(words)).toBe(true)
  expect(shown).not.toContain('\u001b')
})
