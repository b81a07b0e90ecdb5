import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { endedWord, Following } from '../../../src/cluster/records/following.ts'
import type { RequestRecord } from '../../../src/core/record.ts'
import { sampleRecord } from '../../support/sample-record.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** PostgreSQL is away while `away` says so. */
function follow(away: () => boolean) {
  const seen: string[] = []
  const following = new Following({
    postgres: { ask: () => Promise.reject(new Error('nobody hears it')) },
    node: 'gw-a',
    async read(ids) {
      if (away()) throw new Error('connection lost')
      return ids.map((id): RequestRecord => sampleRecord({ id }))
    },
    onRecords: (records) => seen.push(...records.map(({ id }) => id)),
  })
  following.follow(true)
  return { following, seen }
}

it('reads again later what could not be read, once', async () => {
  let away = true
  const { following, seen } = follow(() => away)
  following.hear(`${endedWord} gw-b req_1 req_2`)
  await vi.advanceTimersByTimeAsync(5000)
  expect(seen).toEqual([])
  away = false
  following.hear(`${endedWord} gw-b req_3`)
  await vi.advanceTimersByTimeAsync(9000)
  expect(seen).toEqual(['req_3', 'req_1', 'req_2'])
  following.close()
})

it('shows nothing any more when nobody follows', async () => {
  const { following, seen } = follow(() => true)
  following.hear(`${endedWord} gw-b req_1`)
  await vi.advanceTimersByTimeAsync(0)
  following.close()
  await vi.advanceTimersByTimeAsync(9000)
  expect(seen).toEqual([])
})
