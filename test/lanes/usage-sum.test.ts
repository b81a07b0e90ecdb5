import { expect, it } from 'vitest'
import { usageDetail } from '../../src/lanes/usage.ts'
import { addUsage } from '../../src/lanes/usage-sum.ts'

const most = Number.MAX_SAFE_INTEGER

it('of counts that nobody can have used is still one that can be stored', () => {
  const one = { input: most, output: 7, cache_read: 0, cache_write: most, reasoning: 1, source: 'reported' as const }
  expect(addUsage(one, one)).toEqual({ ...one, output: 14, reasoning: 2 })
})

it('beyond tokens is nothing where it cannot be true: its price could not be reckoned', () => {
  expect(usageDetail({ seconds: 1e308, searches: 1e15 })).toBeNull()
  expect(usageDetail({ seconds: 12.5, searches: 1e15 })).toMatchObject({ seconds: 12.5, searches: null })
})

it('keeps the names in a detail short, since records hold them', () => {
  const detail = usageDetail({ images: 1, image_size: '1024x1024/high', tier: 't'.repeat(65), geo: 'g'.repeat(1e6) })
  expect(detail).toMatchObject({ image_size: '1024x1024/high', tier: null, geo: null })
})
