import { expect, it } from 'vitest'
import { requestFilters } from '../../src/admin/contract/requests/request-filters.ts'

it('takes as many tags as one statement of the database can look for', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, at) => `t${at}=a`)
  expect(requestFilters.tags.safeParse(tags(32)).success).toBe(true)
  expect(requestFilters.tags.safeParse(tags(33)).success).toBe(false)
})
