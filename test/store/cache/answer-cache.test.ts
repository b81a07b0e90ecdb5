import { expect, it } from 'vitest'
import type { CachePut } from '../../../src/core/cached-answer.ts'
import { AnswerCache } from '../../../src/store/cache/answer-cache.ts'
import { cacheTable } from '../../../src/store/cache/cache.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

const now = 1_795_600_000_000

async function open(most?: number) {
  const data = storePaths(temporaryDirectory())
  const store = await openTestStore(data.databasePath)
  return { store, cache: new AnswerCache(store.connection, most), table: cacheTable(store.connection.db) }
}

function entry(key: string, more: Partial<CachePut> = {}): CachePut {
  const sealed = new Uint8Array(1000).fill(7)
  return { kind: 'cache-put', key, routeId: 'rte_1', expiresAt: now + 60_000, keyId: 'k', sealed, ...more }
}

it('gives what was kept until it expires, and the newest of a key', async () => {
  const { store, cache } = await open()
  expect(await cache.find('a', now)).toBeNull()
  await cache.put(entry('a'))
  await cache.put(entry('a', { keyId: 'newer' }))
  expect(await cache.find('a', now)).toMatchObject({ keyId: 'newer' })
  expect(await cache.find('a', now + 60_000)).toBeNull()
  expect(await cache.figures()).toEqual({ answers: 1, bytes: 1000, hits: 1, misses: 2 })
  await cache.removeExpired(now + 60_000)
  expect(await cache.figures()).toMatchObject({ answers: 0, bytes: 0 })
  await store.close()
})

it('is never larger than it may be: the oldest go first', async () => {
  const { store, cache } = await open(50_000)
  for (let number = 0; number < 120; number++) {
    await cache.put(entry(`key ${number}`))
    expect((await cache.figures()).bytes).toBeLessThanOrEqual(50_000)
  }
  expect(await cache.find('key 119', now)).not.toBeNull()
  expect(await cache.find('key 0', now)).toBeNull()
  await store.close()
})

it('is cleared by route, or all of it', async () => {
  const { store, cache, table } = await open()
  await cache.put(entry('a'))
  await cache.put(entry('b', { routeId: 'rte_2' }))
  await cache.put(entry('c', { routeId: 'rte_2' }))
  expect(await table.clear('rte_2')).toBe(2)
  expect(await cache.find('a', now)).not.toBeNull()
  expect(await table.clear(null)).toBe(1)
  expect(await cache.figures()).toMatchObject({ answers: 0, bytes: 0 })
  await store.close()
})
