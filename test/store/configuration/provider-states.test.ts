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

it('is in a state since that was first found, whatever is found again, and whatever the reason', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const first = { state: 'ready', reason: null, since: ago(3) } as const
  const { id } = await store.providers.insert(sampleProvider({ readiness: first }), sampleRevision())
  const find = async (state: Readiness['state'], reason: string | null, days: number) => {
    const since = ago(days)
    await store.providers.setReadiness(id, { state, reason, since }, null)
    const kept = (await store.providers.find(id))?.readiness
    return [since, kept?.since, await store.providers.noteShown(id, { state, reason, since: kept?.since ?? null })]
  }
  expect((await find('ready', null, 2)).slice(1)).toEqual([first.since, first.since])
  const [failed, ...kept] = await find('failing', 'credential rejected', 1)
  expect(kept).toEqual([failed, failed])
  expect((await find('failing', 'no answer', 0.5)).slice(1)).toEqual([failed, failed])
  expect((await store.providers.states(id, '')).map(({ reason }) => reason)).toEqual([
    ...[null, 'credential rejected', 'no answer'],
  ])
})

it('keeps what every surface showed, where it is something new', async () => {
  const store = await startTestStore(storePaths(temporaryDirectory()))
  const readiness = { state: 'ready', reason: null, since: ago(1) } as const
  const { id } = await store.providers.insert(sampleProvider({ readiness }), sampleRevision())
  const show = (state: 'ready' | 'failing' | 'recovering', since: string | null) =>
    store.providers.noteShown(id, { state, reason: state === 'ready' ? null : 'calls failed', since })
  expect(await show('ready', null)).toBe(readiness.since)
  const since = ago(0.5)
  expect([await show('failing', since), await show('failing', ago(0.4))]).toEqual([since, since])
  await show('recovering', ago(0.5))
  await show('ready', null)
  const history = await store.providers.states(id, '')
  expect(history.map(({ state }) => state)).toEqual(['ready', 'failing', 'ready'])
  expect(history.map(({ time }) => time)).toEqual(history.map(({ time }) => time).toSorted())
  for (let count = 0; count < 1010; count++)
    await store.providers.noteShown(id, {
      state: count % 2 === 0 ? 'failing' : 'ready',
      reason: null,
      since: new Date(Date.now() + count * 1000).toISOString(),
    })
  expect(await store.providers.states(id, '')).toHaveLength(1000)
  await store.providers.noteShown('prv_gone', { state: 'failing', reason: null, since: null })
  expect(await store.providers.states('prv_gone', '')).toEqual([])
})
