import fc, { array, boolean, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHedgingMemory, RouteTimes } from '../../src/routing/hedging.ts'

const open = (routeId = 'rte_1', memory = createHedgingMemory()) => new RouteTimes(new BigInt64Array(memory), routeId)

describe('the share of requests that are sent twice', () => {
  it('is never above the limit', () => {
    fc.assert(
      property(integer({ min: 1, max: 100 }), array(boolean(), { maxLength: 400 }), (share, wants) => {
        const times = open()
        let hedges = 0
        for (const [place, want] of wants.entries()) {
          times.count()
          if (want && times.take(share)) hedges++
          expect(hedges * 100).toBeLessThanOrEqual((place + 1) * share)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('is reached where every request wants it', () => {
    const times = open()
    let hedges = 0
    for (let request = 0; request < 10_000; request++) {
      times.count()
      if (times.take(5)) hedges++
    }
    expect(hedges).toBeGreaterThan(490)
    expect(hedges).toBeLessThanOrEqual(501)
  })

  it('has room again for one that was not sent after all', () => {
    const times = open()
    for (let request = 0; request < 20; request++) times.count()
    expect([times.take(5), times.take(5)]).toEqual([true, false])
    times.release()
    expect(times.take(5)).toBe(true)
  })

  it('is counted for each route', () => {
    const memory = createHedgingMemory()
    const one = open('rte_1', memory)
    for (let request = 0; request < 20; request++) one.count()
    expect(open('rte_2', memory).take(5)).toBe(false)
    expect(open('rte_1', memory).take(5)).toBe(true)
  })
})

describe('the time that 95 of 100 calls take', () => {
  it('is not known before a few have been seen', () => {
    const times = open()
    for (let call = 0; call < 19; call++) times.record(true, 50)
    expect(times.p95(true)).toBeNull()
    times.record(true, 50)
    expect(times.p95(true)).not.toBeNull()
    expect(times.p95(false)).toBeNull()
  })

  it('is right within a bucket, and follows what changes', () => {
    const times = open()
    const sorted = Array.from({ length: 2000 }, (_, place) => 20 + place * 0.5).sort(() => 0)
    for (const ms of sorted) times.record(false, ms)
    const truth = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0
    const within = (ms: number, of: number) => {
      expect(ms).toBeGreaterThan(of / 1.19)
      expect(ms).toBeLessThan(of * 1.19 + 1)
    }
    within(times.p95(false) ?? 0, truth)
    for (let call = 0; call < 40_000; call++) times.record(false, 10)
    within(times.p95(false) ?? 0, 10)
  })
})
