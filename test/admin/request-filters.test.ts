import { expect, it } from 'vitest'
import { requestFilters } from '../../src/admin/contract/requests/request-filters.ts'
import { requestPage } from '../../src/admin/contract/requests/request-search.ts'
import { newId } from '../../src/core/ids.ts'
import { idAt } from '../../src/store/records/id-time.ts'

it('takes as many tags as one statement of the database can look for', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, at) => `t${at}=a`)
  expect(requestFilters.tags.safeParse(tags(32)).success).toBe(true)
  expect(requestFilters.tags.safeParse(tags(33)).success).toBe(false)
})

it('goes on before an id, of a request that is gone, too, or before a moment, and nowhere else', () => {
  const fits = (before: string) => requestPage.before.safeParse(before).success
  expect([newId('req'), idAt(Date.now()), idAt(0)].map(fits)).toEqual([true, true, true])
  const id = newId('req')
  const wrong = ['', 'nonsense', 'req_', 'req_a', id.slice(0, -1), `${id}0`, id.toUpperCase(), newId('aud')]
  expect(wrong.filter(fits)).toEqual([])
})
