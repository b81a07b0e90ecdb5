import { expect, it } from 'vitest'
import { certainlyAhead, clockApart, describeApart } from '../../src/core/clock-apart.ts'

it.each([
  ['equal', 1000, 1000, 1000, 0],
  ['on its way for long, which says nothing', 1000, 4000, 9000, 0],
  ['an hour ahead', 3_600_000, 500, 3_600_900, 3_599_500],
  ['an hour behind', 0, 3_600_000, 900, -3_599_100],
])('a clock that is %s', (_, asked, server, heard, ahead) => {
  expect(certainlyAhead(asked, server, heard)).toBe(ahead)
})

it('is worth words from two seconds on, in both directions', () => {
  expect([null, undefined, 0, 1999, -1999].map(clockApart)).toEqual([null, null, null, null, null])
  expect([2000, -2000].map(clockApart)).toEqual([2000, -2000])
  expect([3_600_000, -30_400].map(describeApart)).toEqual(['3600 s ahead of', '30 s behind'])
})
