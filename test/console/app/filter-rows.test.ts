import { describe, expect, it } from 'vitest'
import { filterRows } from '../../../src/console/app/areas/filter-rows.ts'

const rows = [
  { name: 'web', scope: 'default/production', last: 'Ab12', policy: null },
  { name: 'Batch', scope: 'search/staging', last: '9xYz', policy: 'cheap' },
]
const found = (text: string) =>
  filterRows(rows, text, ({ name, scope, last, policy }) => [name, scope, last, policy]).map(({ name }) => name)

describe('the filter of a list', () => {
  it('finds a row by any of its texts, in whatever case', () => {
    expect(found('batch')).toEqual(['Batch'])
    expect(found(' STAGING ')).toEqual(['Batch'])
    expect(found('cheap')).toEqual(['Batch'])
    expect(found('')).toEqual(['web', 'Batch'])
    expect(found('nothing')).toEqual([])
  })

  it('finds an ID by its beginning only', () => {
    const ids = [{ id: 'key_01m8pd56peqhx8bgk95hj5c7k0' }, { id: 'key_01m8pd56petthwxw2wxqetthwx' }]
    const withId = (text: string) => filterRows(ids, text, ({ id }) => [id]).length
    expect([withId('key_01m8pd56peq'), withId('key_'), withId('hj5'), withId('01')]).toEqual([1, 2, 0, 0])
  })

  it('finds a whole key by its end', () => {
    expect(found('sp_live_0123456789abcdefAb12')).toEqual(['web'])
    expect(found('sp_live_0123456789abcdef0000')).toEqual([])
  })
})
