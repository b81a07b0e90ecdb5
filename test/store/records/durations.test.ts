import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { DurationCounts, durationStep, durationSteps } from '../../../src/store/records/duration-counts.ts'
import { changeLatencies } from '../../../src/store/records/latency-blob.ts'
import { readLatencies } from '../../support/latencies.ts'

const duration = fc.oneof(fc.nat(300), fc.nat(60_000), fc.nat(2 ** 31 - 1))

describe('percentiles', () => {
  it('are exact below 256 ms, and off by less than half a percent above', () => {
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 800 }), (durations) => {
        const counts = new DurationCounts()
        for (const each of durations) counts.add(each)
        const sorted = durations.toSorted((one, other) => one - other)
        const shares = [0.5, 0.95, 0.99] as const
        for (const [index, found] of counts.percentiles(shares).entries()) {
          const exact = sorted[Math.max(1, Math.ceil((shares[index] ?? 0) * sorted.length)) - 1] ?? Number.NaN
          if (exact < 256) expect(found).toBe(exact)
          else expect(Math.abs((found ?? 0) - exact) / exact).toBeLessThan(0.005)
        }
      }),
    )
  })

  it('are the same of a few, without an array for each group, and of many', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(duration, fc.integer({ min: -2, max: 50 })), { maxLength: 60 }), (steps) => {
        const [few, many] = [new DurationCounts(), new DurationCounts()]
        const made = vi.spyOn(globalThis, 'Float64Array')
        for (const [milliseconds, count] of steps) few.addStep(durationStep(milliseconds), count)
        const found = few.percentiles([0.5, 0.95])
        expect(made).not.toHaveBeenCalled()
        made.mockRestore()
        many.spread()
        for (const [milliseconds, count] of steps) many.addStep(durationStep(milliseconds), count)
        const total = steps.reduce((sum, [, count]) => sum + count, 0)
        if (total > 0) expect(found).toEqual(many.percentiles([0.5, 0.95]))
      }),
    )
  })

  it('know no steps beyond the last', () => {
    expect([durationStep(-5), durationStep(1e15), durationStep(255.4)]).toEqual([0, durationSteps - 1, 255])
    expect(new DurationCounts().percentiles([0.5])).toEqual([null])
  })
})

describe('counts as bytes', () => {
  const places = fc.dictionary(fc.nat(2 * durationSteps - 1).map(String), fc.integer({ min: 1, max: 2 ** 40 }))

  it('are read as they were written, added and taken away', () => {
    fc.assert(
      fc.property(places, places, (one, other) => {
        const numbers = (given: Record<string, number>) =>
          new Map(Object.entries(given).map(([place, count]) => [Number(place), count]))
        const first = changeLatencies(null, numbers(one))
        const both = changeLatencies(first, numbers(other))
        const negated = new Map([...numbers(other)].map(([place, count]) => [place, -count]))
        expect(changeLatencies(both, negated)).toEqual(first)
        expect(readLatencies(first)).toEqual(numbers(one))
      }),
    )
  })
})
