import { expect, it } from 'vitest'
import { errorRateOf, requestsOf } from '../../../src/console/app/areas/keys/day-requests.ts'

it('a key that sent nothing has 0 requests, and one of which nothing is known has no figure', () => {
  const days = new Map([['key_1', { requests: 8, errors: 2, usd: null }]])
  expect(['key_1', 'key_2'].map((id) => requestsOf(days, id))).toEqual([8, 0])
  expect(['key_1', 'key_2'].map((id) => errorRateOf(days, id))).toEqual([0.25, null])
  expect([requestsOf(null, 'key_1'), errorRateOf(null, 'key_1')]).toEqual([null, null])
})
