import { describe, expect, it } from 'vitest'
import { sortRows } from '../../../src/console/app/parts/sort-rows.ts'

describe('the order of a table', () => {
  const rows = [{ value: 2 }, { value: null }, { value: 10 }, { value: 2 }]
  const sorted = (descending: boolean) => sortRows(rows, ({ value }) => value, descending).map(({ value }) => value)

  it('is by number or by text, and what has no value comes last either way', () => {
    expect(sorted(false)).toEqual([2, 2, 10, null])
    expect(sorted(true)).toEqual([10, 2, 2, null])
    expect(sortRows(['b', 'a'], (text) => text, false)).toEqual(['a', 'b'])
  })
})
