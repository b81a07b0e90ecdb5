import { expect, it } from 'vitest'
import { removeExpiredReasoning, removeReasoningBefore } from '../../../src/store/reasoning/reasoning-retention.ts'
import type { OpenStore } from '../../../src/store/sqlite/open.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

async function open(): Promise<OpenStore> {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  await store.connection.writeHot((hot) => {
    for (let at = 0; at < 1200; at++)
      hot.reasoning.store({ kind: 'reasoning', requestId: 'r', name: `n${at}`, expiresAt: at, sealed: 's' })
  })
  return store
}

const names = Array.from({ length: 1200 }, (_, at) => `n${at}`)
const left = async ({ connection }: OpenStore) =>
  names.filter(Set.prototype.has, new Set(Object.keys(await connection.readHot((hot) => hot.reasoning.find(names)))))

it('what has ended goes, then what ends first, down to the most that is kept', async () => {
  const store = await open()
  await removeExpiredReasoning(store.connection, 700)
  expect(await left(store)).toEqual(names.slice(700))
  await removeExpiredReasoning(store.connection, 700, 10)
  expect(await left(store)).toEqual(names.slice(1190))
  expect(await removeReasoningBefore(store.connection, 1e9)).toBe(true)
  expect(await left(store)).toEqual([])
  expect(await removeReasoningBefore(store.connection, 1e9)).toBe(false)
  await store.close()
})
