import { describe, expect, it } from 'vitest'
import { type Period, periodAt } from '../../src/policy/calendar.ts'

const hour = 3_600_000

describe('periodAt', () => {
  const cases: [string, Period, string, string, string, string][] = [
    ['a day of UTC', 'day', 'UTC', '2026-11-23T19:00:00Z', '2026-11-23T00:00:00Z', '2026-11-24T00:00:00Z'],
    ['its first moment', 'day', 'UTC', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z', '2026-11-24T00:00:00Z'],
    [
      'litellm 34896: east',
      'day',
      'Asia/Tokyo',
      '2026-11-23T16:00:00Z',
      '2026-11-23T15:00:00Z',
      '2026-11-24T15:00:00Z',
    ],
    [
      'litellm 10288: 23 hours',
      'day',
      'America/New_York',
      '2026-03-08T12:00:00Z',
      '2026-03-08T05:00:00Z',
      '2026-03-09T04:00:00Z',
    ],
    [
      'litellm 9098: 25 hours',
      'day',
      'America/New_York',
      '2026-11-01T12:00:00Z',
      '2026-11-01T04:00:00Z',
      '2026-11-02T05:00:00Z',
    ],
    ['no midnight', 'day', 'America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'],
    ['litellm 33161: a month', 'month', 'UTC', '2028-02-29T23:59:59Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    [
      'a month with a change of the clock',
      'month',
      'America/New_York',
      '2026-11-23T00:00:00Z',
      '2026-11-01T04:00:00Z',
      '2026-12-01T05:00:00Z',
    ],
  ]
  for (const [name, period, zone, now, start, end] of cases) {
    it(name, () => {
      expect(periodAt(period, zone, Date.parse(now))).toEqual({ start: Date.parse(start), end: Date.parse(end) })
    })
  }

  it('leaves no moment out and has none twice', () => {
    for (const zone of ['Asia/Tokyo', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', '+05:45']) {
      for (const period of ['day', 'month'] as const) {
        const first = periodAt(period, zone, Date.parse('2026-01-01T00:00:00Z'))
        for (let { end } = first; end < first.start + 366 * 24 * hour; ) {
          const next = periodAt(period, zone, end)
          expect(next.start).toBe(end)
          expect(periodAt(period, zone, next.end - 1)).toEqual(next)
          end = next.end
        }
      }
    }
  })
})
