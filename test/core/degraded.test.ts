import { expect, it } from 'vitest'
import { describeMissing } from '../../src/core/degraded.ts'

const since = '2026-11-30T12:03:00.000Z'
const say = (...parts: string[]) => describeMissing(parts.map((part) => ({ part, since })))

it('says with a reading of records what it lacks', () => {
  expect(say()).toBeNull()
  expect(say('postgres')).toBeNull()
  expect(say('store', 'outbox')).toMatch(/^The store is degraded: requests since then wait/)
  expect(say('outbox')).toBe(
    'The latest requests of this node wait for PostgreSQL, and may be missing here. See spgw status.',
  )
  // Those of this node come from here, where none of them waits.
  expect(say('outbox', 'records')).toBe(
    'Requests of this node only, since 12:03 UTC: it cannot read PostgreSQL. See spgw status.',
  )
})
