import { describe, expect, it } from 'vitest'
import { heard, isOutdated, type Live, unheard, type WatchEvent } from '../../../src/console/app/live/live-state.ts'

const event = (configuration: number | null, status: object = {}) =>
  ({ configuration, status: { degraded: [], providers: 1, routes: 2, keys: 3, ...status } }) as unknown as WatchEvent

describe('what the page says of the gateway', () => {
  it('is that it is well, or each part that is not', () => {
    expect(heard(event(7), 5)).toMatchObject({ state: 'receiving', reason: null, configuration: 7, heardAt: 5 })
    const degraded = [
      { part: 'journal', reason: 'the disk is full' },
      { part: 'store', reason: 'locked' },
    ]
    expect(heard(event(7, { degraded }), 5)).toMatchObject({
      state: 'degraded',
      reason: 'journal: the disk is full; store: locked',
    })
  })
})

describe('what the page shows of the configuration is read again', () => {
  const known = (configuration: number | null, status: object = {}): Live => heard(event(configuration, status), 1)

  it('after a change, and not before the first look', () => {
    expect(isOutdated(unheard, event(1))).toBe(false)
    expect(isOutdated(known(1), event(1, { keys: 4 }))).toBe(false)
    expect(isOutdated(known(1), event(2))).toBe(true)
    // A gateway that was started anew counts from the beginning.
    expect(isOutdated(known(9), event(1))).toBe(true)
  })

  it('where a gateway counts no changes, when there are more or fewer of something', () => {
    expect(isOutdated(known(null), event(null))).toBe(false)
    for (const word of ['providers', 'routes', 'keys'])
      expect([word, isOutdated(known(null), event(null, { [word]: 9 }))]).toEqual([word, true])
    expect(isOutdated(known(null), event(null, { in_flight: 9 }))).toBe(false)
  })
})
