import fc, { array, boolean, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attachHealth, createHealthMemory } from '../../src/routing/health.ts'

const start = 1_790_000_000_000
const one = { slot: 0, model: 'one', pattern: null }
const other = { slot: 1, model: 'one', pattern: null }

const make = () => {
  const memory = createHealthMemory(2)
  return { health: attachHealth(memory), elsewhere: attachHealth(memory) }
}

describe('figures of latency', () => {
  it('are not there before the first call, and then for all threads', () => {
    const { health, elsewhere } = make()
    expect(health.latency.find(one, true)).toBeNull()
    health.latency.record(one, true, 120, start)
    expect(elsewhere.latency.find(one, true)).toEqual({ ms: 120, at: start })
  })

  it('keep streamed and whole calls apart, and targets', () => {
    const { health } = make()
    health.latency.record(one, true, 120, start)
    health.latency.record(one, false, 4000, start)
    expect(health.latency.find(one, true)?.ms).toBe(120)
    expect(health.latency.find(one, false)?.ms).toBe(4000)
    expect(health.latency.find(other, false)).toBeNull()
  })

  it('rise at once, and fall with time', () => {
    const { health } = make()
    health.latency.record(one, true, 100, start)
    health.latency.record(one, true, 9000, start + 1)
    expect(health.latency.find(one, true)?.ms).toBe(9000)
    health.latency.record(one, true, 100, start + 2)
    expect(health.latency.find(one, true)?.ms).toBeGreaterThan(8900)
    health.latency.record(one, true, 100, start + 30_000)
    expect(health.latency.find(one, true)?.ms).toBeLessThan(600)
  })

  it('are forgotten with the provider', () => {
    const { health } = make()
    for (const streamed of [true, false]) health.latency.record(one, streamed, 100, start)
    health.markReady(0)
    expect([health.latency.find(one, true), health.latency.find(one, false)]).toEqual([null, null])
  })

  it('are never outside of what was measured, and never 0', () => {
    const sample = record({ ms: integer({ min: 0, max: 10_000_000 }), wait: integer({ min: -5000, max: 90_000 }) })
    fc.assert(
      property(array(sample, { minLength: 1 }), boolean(), (samples, streamed) => {
        const { health } = make()
        let now = start
        for (const { ms, wait } of samples) {
          now += wait
          health.latency.record(one, streamed, ms, now)
        }
        const found = health.latency.find(one, streamed)?.ms ?? 0
        const bounds = samples.map(({ ms }) => Math.min(Math.max(1, ms), 2 ** 21 - 1))
        expect(found).toBeGreaterThanOrEqual(Math.min(...bounds))
        expect(found).toBeLessThanOrEqual(Math.max(...bounds))
      }),
      { numRuns: 300 },
    )
  })
})
