import { expect, it } from 'vitest'
import type { ShownState } from '../../../src/core/provider-state.ts'
import { StateHistory } from '../../../src/daemon/health/state-history.ts'

it('notes each new state once, and again what the store did not take', async () => {
  const noted: string[] = []
  let isDown = false
  let state: ShownState = { state: 'ready', reason: null, since: null }
  const history = new StateHistory({
    states: () => [{ id: 'prv_1', state }],
    store: {
      providers: {
        noteShown: async (id, shown) => {
          if (isDown) throw new Error('the store does not answer')
          noted.push(`${id} ${shown.state}`)
          return `time ${noted.length}`
        },
      },
    },
  })
  await history.look()
  await history.look()
  expect(noted).toEqual(['prv_1 ready'])
  state = { state: 'failing', reason: '5 calls in a row failed', since: null }
  isDown = true
  await history.look()
  expect(history.since('prv_1', 'failing')).toBeNull()
  isDown = false
  await history.look()
  expect(noted).toEqual(['prv_1 ready', 'prv_1 failing'])
  expect([history.since('prv_1', 'failing'), history.since('prv_1', 'recovering')]).toEqual(['time 2', null])
  expect(Date.parse(history.since('prv_1', 'ready') ?? '')).toBeGreaterThan(Date.now() - 10_000)
})
