import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeSize, formatDuration, formatSize, groupDigits, parseDuration } from '../../src/core/units.ts'

describe('a duration', () => {
  it('is read as it is written, up to a hundred years', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 36_525 * 86_400_000 }), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds)
      }),
    )
  })

  it.each(['36526d', '999999999999999999999d', '1e3s', '-1s', '5', 's', ''])('is not %j', (text) => {
    expect(parseDuration(text)).toBeNull()
  })
})

it.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [200_000, '200,000'],
  [3_000_000, '3,000,000'],
])('writes the whole number %s as %s', (count, text) => {
  expect(groupDigits(count)).toBe(text)
})

it.each([
  [0, '0B', '0 B'],
  [1_000_000, '1MB', '1 MB'],
  [1_048_576, '1048576B', '1048576 B'],
  [1_500_000, '1500KB', '1500 KB'],
])('writes a size of %d as %s, and says it as %s', (bytes, written, said) => {
  expect([formatSize(bytes), describeSize(bytes)]).toEqual([written, said])
})
