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

it('is told of no record of this node, nor of what is about something else', async () => {
  const { following, seen } = follow(() => false)
  expect(following.hear('42')).toBe(false)
  expect(following.hear('')).toBe(false)
  expect(following.hear(`${endedWord} gw-a req_1`)).toBe(true)
  expect(following.hear(`${endedWord} gw-b`)).toBe(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(seen).toEqual([])
  following.close()
})

it('is followed for some seconds after somebody has said so, however the clock of the day is set', async () => {
  const { following } = follow(() => false)
  expect(following.isFollowed).toBe(false)
  following.hear('follow')
  expect(following.isFollowed).toBe(true)
  await vi.advanceTimersByTimeAsync(5000)
  following.hear('follow')
  await vi.advanceTimersByTimeAsync(6900)
  expect(following.isFollowed).toBe(true)
  vi.setSystemTime(0)
  expect(following.isFollowed).toBe(true)
  await vi.advanceTimersByTimeAsync(200)
  expect(following.isFollowed).toBe(false)
  following.close()
})

it('asks for no more than can be read at once, and remembers no more than it may', async () => {
  const asked: number[] = []
  let away = true
  const following = new Following({
    postgres: { ask: () => Promise.reject(new Error('nobody hears it')) },
    node: 'gw-a',
    async read(ids) {
      if (away) throw new Error('connection lost')
      asked.push(ids.length)
      return []
    },
    onRecords: () => {},
  })
  following.follow(true)
  for (let time = 0; time < 60; time++)
    following.hear(`${endedWord} gw-b ${Array.from({ length: 200 }, (_, at) => `req_${time}_${at}`).join(' ')}`)
  await vi.advanceTimersByTimeAsync(0)
  away = false
  await vi.advanceTimersByTimeAsync(2000)
  expect([Math.max(...asked), asked.reduce((sum, count) => sum + count, 0)]).toEqual([200, 10_000])
  following.close()
  expect(vi.getTimerCount()).toBe(0)
})

it('begins anew where it is wanted again: what was missed before is nobody’s any more', async () => {
  let away = true
  const { following, seen } = follow(() => away)
  following.hear(`${endedWord} gw-b req_1`)
  await vi.advanceTimersByTimeAsync(0)
  following.follow(true)
  away = false
  following.hear(`${endedWord} gw-b req_2`)
  await vi.advanceTimersByTimeAsync(5000)
  expect(seen).toEqual(['req_2'])
  following.close()
})
