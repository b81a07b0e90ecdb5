import fc, { double, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { retryAfterToPass, retryDelay } from '../../src/routing/backoff.ts'

describe('retryDelay', () => {
  it('doubles from a quarter of a second to five seconds', () => {
    const delays = [0, 1, 2, 3, 4, 5, 50].map((retried) => retryDelay(retried, null, () => 0))
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000])
  })

  it('is cut by at most a quarter', () => {
    fc.assert(
      property(
        integer({ min: 0, max: 100 }),
        double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (retried, drawn) => {
          const whole = retryDelay(retried, null, () => 0) ?? 0
          const delay = retryDelay(retried, null, () => drawn) ?? 0
          expect(delay).toBeLessThanOrEqual(whole)
          expect(delay).toBeGreaterThanOrEqual(whole * 0.75)
        },
      ),
    )
  })

  it('keeps what the provider asks for, up to five seconds', () => {
    expect(retryDelay(3, 0, () => 0)).toBe(0)
    expect(retryDelay(0, 5000, () => 0.9)).toBe(5000)
    expect(retryDelay(0, 5001, () => 0)).toBeNull()
  })
})

describe('retryAfterToPass', () => {
  it('passes the soonest, only when every target asked, and never more than a minute', () => {
    expect(retryAfterToPass([9000, 7000])).toBe(7000)
    expect(retryAfterToPass([9000, null])).toBeNull()
    expect(retryAfterToPass([120_000])).toBe(60_000)
    expect(retryAfterToPass([])).toBeNull()
  })
})
