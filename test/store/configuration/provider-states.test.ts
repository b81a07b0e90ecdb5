import { expect, it } from 'vitest'
import type { Readiness } from '../../../src/store/configuration/snapshot.ts'
import { sampleProvider, sampleRevision, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

const dayMs = 24 * 3_600_000
const ago = (days: number) => new Date(Date.now() - days * dayMs).toISOString()

it('keeps what was found of a provider as it changes, for 30 days, and the state that holds', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const { id } = await store.providers.insert(
    sampleProvider({ readiness: { state: 'ready', reason: null, since: ago(60) } }),
    sampleRevision(),
  )
  const other = await store.providers.insert(
    sampleProvider({ name: 'other', readiness: { state: 'unchecked', reason: null, since: ago(90) } }),
    sampleRevision(),
  )
  const find = async (state: Readiness['state'], reason: string | null, days: number) =>
    store.providers.setReadiness(id, { state, reason, since: ago(days) }, null)
  const history = async () => (await store.providers.states(id, '')).map(({ state, reason }) => [state, reason])

  expect(await history()).toEqual([['ready', null]])
  await find('ready', null, 50)
  expect(await history()).toEqual([['ready', null]])
  await find('failing', 'credential rejected', 40)
  expect(await history()).toEqual([['failing', 'credential rejected']])
  await find('failing', 'no answer', 3)
  await find('ready', null, 2)
  expect(await history()).toEqual([
    ['failing', 'no answer'],
    ['ready', null],
  ])
  expect(await store.providers.states(id, ago(2.5))).toMatchObject([{ state: 'ready' }])

  expect(await store.providers.states(other.id, '')).toMatchObject([{ state: 'unchecked' }])
  await store.providers.remove(id)
  expect(await history()).toEqual([])
})
