import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ShownState } from '../../src/core/provider-state.ts'
import type { SecondTally, TrafficTally } from '../../src/core/traffic-tally.ts'
import { nextTime } from '../../src/daemon/backup/scheduled-backups.ts'
import { Isolation } from '../../src/daemon/cluster/isolation.ts'
import { StateHistory } from '../../src/daemon/health/state-history.ts'
import { TrafficWindow } from '../../src/daemon/records/recent-traffic.ts'
import { ReplacementPace } from '../../src/daemon/threads/replacement.ts'

const dayMs = 24 * 3600_000
const start = Date.parse('2026-03-01T12:00:00Z')

describe('the time of the next backup', () => {
  const moment = fc.integer({ min: start - 400 * dayMs, max: start + 400 * dayMs })

  it('at a time of day is the first one behind the newest, or behind the start', () => {
    fc.assert(
      fc.property(fc.nat(1439), fc.option(moment), moment, (minuteOfDay, newest, startedAt) => {
        const next = nextTime({ minuteOfDay }, newest, startedAt)
        const after = newest ?? startedAt
        expect(next).toBeGreaterThan(after)
        expect(next - after).toBeLessThanOrEqual(dayMs)
        expect(next % dayMs).toBe(minuteOfDay * 60_000)
      }),
    )
  })

  it('after a while is that long behind the newest, and now where there is none', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 * dayMs }), moment, moment, (everyMs, newest, startedAt) => {
        expect(nextTime({ everyMs }, newest, startedAt)).toBe(newest + everyMs)
        expect(nextTime({ everyMs }, null, startedAt)).toBe(startedAt)
      }),
    )
  })

  it('never comes twice for one: made when it is due, the one after it is later', () => {
    fc.assert(
      fc.property(fc.nat(1439), moment, fc.nat(30_000), (minuteOfDay, startedAt, late) => {
        const first = nextTime({ minuteOfDay }, null, startedAt)
        const second = nextTime({ minuteOfDay }, first + late, startedAt)
        expect(second).toBe(first + dayMs)
      }),
    )
  })
})

describe('the traffic of a minute', () => {
  const tally = (second: number, requests: number): TrafficTally => {
    const own: SecondTally = { second, requests, errors: 0, failures: 0, usd: null, latencies: [] }
    return { seconds: [own], attempts: [], errors: [], served: [] } as object as TrafficTally
  }
  /** Seconds pass, or the clock is set; what comes has ended then, some time before, or by a clock that is ahead. */
  const step = fc.record({
    passed: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: -4000, max: 4000 })),
    ended: fc.integer({ min: -90, max: 30 }),
    requests: fc.integer({ min: 0, max: 5 }),
  })

  it('is that of its last sixty seconds, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const window = new TrafficWindow(start)
        let now = Math.floor(start / 1000)
        let kept: { second: number; requests: number }[] = []
        for (const { passed, ended, requests } of steps) {
          now += passed
          kept.push({ second: now + ended, requests })
          // What a clock that was set has left behind does not come back with its time.
          kept = kept.filter(({ second }) => second > now - 60 && second <= now + 5)
          window.add(tally(now + ended, requests), now * 1000)
          const sum = kept.reduce((all, each) => all + each.requests, 0)
          expect(window.count(now * 1000 + 999).requests).toBe(sum)
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('isolation', () => {
  const note = fc.record({
    engine: fc.constantFrom('postgres', 'valkey'),
    isAway: fc.boolean(),
    passed: fc.nat(1000),
  })

  it('is as long as neither was reached, without a gap', () => {
    fc.assert(
      fc.property(fc.array(note, { maxLength: 30 }), fc.boolean(), (notes, hasValkey) => {
        const isolation = new Isolation(1000, hasValkey)
        const away = { postgres: false, valkey: !hasValkey }
        let now = 0
        let since: number | null = null
        for (const { engine, isAway, passed } of notes) {
          now += passed
          isolation.note(engine, isAway ? 'away' : null, now)
          if (engine === 'postgres' || hasValkey) away[engine] = isAway
          since = away.postgres && away.valkey ? (since ?? now) : null
          for (const later of [0, 500, 999, 1000, 5000])
            expect(isolation.find(now + later) !== null).toBe(since !== null && now + later - since >= 1000)
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('a thread that died', () => {
  it('is replaced within half a second, at once where it had lived, and never sooner than after the death before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 5000, 9999, 10_000, 3_600_000), { minLength: 1, maxLength: 20 }),
        (ages) => {
          const pace = new ReplacementPace()
          let before = 0
          for (const age of ages) {
            const pause = pace.died(age, 'a bug\nat its place')
            expect(pause).toBeLessThanOrEqual(500)
            if (age >= 10_000) expect(pause).toBe(0)
            else if (before > 0) expect(pause).toBeGreaterThanOrEqual(before)
            before = pause
          }
          expect(pace.evaluate(2, 1, 0)).toBe(
            '1 of 2 data-plane threads are running, the rest are being replaced; the last crash: a bug',
          )
          expect(pace.evaluate(2, 2, 10_000)).toBeNull()
        },
      ),
    )
  })

  it('says nothing while nothing has died, and looks again no later than a young thread has grown', () => {
    expect(new ReplacementPace().evaluate(4, 0, 0)).toBeNull()
    for (const age of [-5000, 0, 9500, 60_000]) expect(new ReplacementPace().ripensIn(age)).toBeGreaterThanOrEqual(1000)
    expect(new ReplacementPace().ripensIn(2000)).toBe(8000)
  })
})

describe('the history of a state', () => {
  const shown = (state: ShownState['state']): ShownState => ({ state, reason: null, since: null })

  it('is noted in its order also where the store takes long, each state once', async () => {
    const noted: string[] = []
    const gate = Promise.withResolvers<void>()
    let state = shown('failing')
    const history = new StateHistory({
      states: () => [{ id: 'prv_1', state }],
      store: {
        providers: {
          noteShown: async (_id, given) => {
            noted.push(given.state)
            await gate.promise
            return null
          },
        },
      },
    })
    const looks = [history.look(), history.look()]
    state = shown('ready')
    looks.push(history.look(), history.look())
    gate.resolve()
    await Promise.all(looks)
    expect(noted).toEqual(['failing', 'ready'])
  })

  it('of one provider is noted though that of another is not taken', async () => {
    const noted: string[] = []
    let broken = 'prv_1'
    const history = new StateHistory({
      states: () => ['prv_1', 'prv_2'].map((id) => ({ id, state: shown('ready') })),
      store: {
        providers: {
          noteShown: async (id) => {
            if (id === broken) throw new Error('no such provider')
            noted.push(id)
            return null
          },
        },
      },
    })
    await history.look()
    broken = ''
    await history.look()
    await history.look()
    expect(noted).toEqual(['prv_2', 'prv_1'])
  })
})
