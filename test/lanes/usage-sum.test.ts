import { expect, it } from 'vitest'
import { addUsage } from '../../src/lanes/usage-sum.ts'

const most = Number.MAX_SAFE_INTEGER

it('of counts that nobody can have used is still one that can be stored', () => {
  const one = { input: most, output: 7, cache_read: 0, cache_write: most, reasoning: 1, source: 'reported' as const }
  expect(addUsage(one, one)).toEqual({ ...one, output: 14, reasoning: 2 })
})
