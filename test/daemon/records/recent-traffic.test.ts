import { describe, expect, it } from 'vitest'
import type { TrafficTally } from '../../../src/core/traffic-tally.ts'
import { TrafficWindow } from '../../../src/daemon/records/recent-traffic.ts'
import { TrafficTallier } from '../../../src/store/ingest/traffic-tally.ts'
import type { RecordHead } from '../../../src/store/records/record-head.ts'
import { sampleRecord } from '../../support/sample-record.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')

function tallyOf(...records: Partial<RecordHead>[]): TrafficTally {
  const tallier = new TrafficTallier()
  for (const record of records) tallier.add({ ...sampleRecord(), figures: null, ...record } as RecordHead)
  const tally = tallier.take()
  if (tally === null) throw new Error('nothing was added')
  return tally
}

const at = (seconds: number, change: Partial<RecordHead> = {}): Partial<RecordHead> => ({
  time: new Date(start + seconds * 1000).toISOString(),
  duration_ms: 500,
  ...change,
})

describe('the traffic of the last minute', () => {
  it('has the cost of copies for shadow targets, which are no requests, and no errors of anybody', () => {
    const window = new TrafficWindow(start - 3_600_000)
    const failed = { status: 500, error: { code: 'provider_error', origin: 'provider', message: '' } } as const
    const copy = at(1, { shadow_of: 'req_1', cost: { usd: 0.5, price_version: 'v1' }, ...failed })
    const tally = tallyOf(at(1, { cost: null }), copy)
    window.add(tally, start + 10_000)
    expect(window.count(start + 10_000)).toEqual({ requests: 1, errors: 0, failures: 0 })
    expect(window.read(start + 10_000)).toMatchObject({ errorShare: 0, usdPerHour: 30 })
    expect(tally.errors).toEqual([])
    expect(tally.served.reduce((sum, { count }) => sum + count, 0)).toBe(1)
  })

  it('is what ended in it, with errors, cost and latency', () => {
    const window = new TrafficWindow(start - 3_600_000)
    const slow = at(-40, { duration_ms: 20_000, cost: { usd: 0.5, price_version: 'test' } })
    const fast = Array.from({ length: 28 }, (_, index) => at(index, { duration_ms: 100, cost: null }))
    const failed = at(3.2, {
      status: 502,
      error: { code: 'provider_error', origin: 'provider', message: '' },
      cost: null,
    })
    window.add(tallyOf(slow, ...fast, failed), start + 30_000)
    const now = window.read(start + 30_000)
    expect(now).toMatchObject({ requestsPerSecond: 0.5, errorShare: 0.0333, usdPerHour: 30 })
    expect(now.durationP95Ms).toBeGreaterThan(485)
    expect(now.durationP95Ms).toBeLessThan(515)
  })

  it('is counted over another span too', () => {
    const window = new TrafficWindow(0, 300)
    const failed = { status: 502, error: { code: 'provider_error', origin: 'provider', message: '' } } as const
    window.add(tallyOf(at(0), at(100, failed), at(200)), start + 210_000)
    expect(window.count(start + 210_000)).toEqual({ requests: 3, errors: 1, failures: 1 })
    expect(window.count(start + 350_000)).toEqual({ requests: 2, errors: 1, failures: 1 })
    expect(window.count(start + 450_000)).toEqual({ requests: 1, errors: 0, failures: 0 })
  })

  it('forgets, and takes nothing from before or from a clock that is ahead', () => {
    const window = new TrafficWindow(start - 3_600_000)
    window.add(tallyOf(at(-61), at(1), at(30)), start)
    expect(window.read(start).requestsPerSecond).toBe(0.02)
    expect(window.read(start + 62_000)).toEqual({
      requestsPerSecond: 0,
      errorShare: null,
      durationP95Ms: null,
      usdPerHour: null,
    })
  })

  it('forgets what a clock that was ahead left behind, once it was set back', () => {
    const window = new TrafficWindow(start - 3_600_000)
    window.add(tallyOf(at(3600), at(3601)), start + 3_602_000)
    window.add(tallyOf(at(1)), start + 2000)
    expect(window.count(start + 2000).requests).toBe(1)
    window.add(tallyOf(at(3600)), start + 3_602_000)
    expect(window.count(start + 2000)).toEqual({ requests: 0, errors: 0, failures: 0 })
  })

  it('is of the time since the start while that is shorter', () => {
    const window = new TrafficWindow(start)
    window.add(tallyOf(at(1), at(2)), start + 4000)
    expect(window.read(start + 4000).requestsPerSecond).toBe(0.5)
  })

  it('tells failures from what clients do wrong', () => {
    const window = new TrafficWindow(start, 300)
    const error = (code: string, origin: string, status: number) =>
      at(1, { status, error: { code, origin, message: '' } as RecordHead['error'] })
    window.add(
      tallyOf(
        at(1),
        error('invalid_key', 'client', 401),
        error('client_closed', 'client', 499),
        error('rate_limited', 'policy', 429),
        error('provider_error', 'provider', 400),
        error('provider_error', 'provider', 404),
        error('provider_error', 'provider', 429),
        error('provider_error', 'provider', 503),
        error('provider_unreachable', 'network', 502),
        error('internal', 'gateway', 500),
      ),
      start + 2000,
    )
    expect(window.count(start + 2000)).toEqual({ requests: 10, errors: 9, failures: 4 })
  })
})
