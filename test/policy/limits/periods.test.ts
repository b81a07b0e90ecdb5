import { describe, expect, it } from 'vitest'
import { Periods, readPeriodName } from '../../../src/policy/limits/periods.ts'

const day = 86_400_000

describe('periods', () => {
  it.each([
    ['litellm 34896', 'Asia/Tokyo', '2026-11-23T15:30:00Z', '2026-11-24', '2026-11-24T15:00:00.000Z'],
    ['litellm 10288', 'America/New_York', '2026-11-01T12:00:00Z', '2026-11-01', '2026-11-02T05:00:00.000Z'],
    ['litellm 9098', 'America/New_York', '2026-03-08T12:00:00Z', '2026-03-08', '2026-03-09T04:00:00.000Z'],
  ])('%s: days are those of the time zone: %s', (_name, timeZone, now, name, end) => {
    const period = new Periods().at('day', timeZone, Date.parse(now))
    expect([period.name, new Date(period.end).toISOString()]).toEqual([name, end])
    expect(readPeriodName(period.name)).toEqual({ kind: 'day', number: period.number })
  })

  it('litellm 33161: months have 28 to 31 days, and consecutive numbers', () => {
    const periods = new Periods()
    const starts = Array.from({ length: 24 }, (_, month) => Date.UTC(2027, month, 15))
    const found = starts.map((now) => periods.at('month', 'UTC', now))
    expect(new Set(found.map(({ start, end }) => (end - start) / day))).toEqual(new Set([28, 29, 30, 31]))
    for (const [index, { number, name }] of found.entries()) {
      expect(number).toBe(found[0]!.number + index)
      expect(readPeriodName(name)).toEqual({ kind: 'month', number })
    }
  })
})
