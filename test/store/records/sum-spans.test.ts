import fc from 'fast-check'
import { expect, it } from 'vitest'
import { momentOf, partsOf, startOf } from '../../../src/store/records/sum-spans.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const base = Date.parse('2026-03-01T00:00:00Z')
const moment = fc.oneof(
  fc.nat(40 * dayMs).map((at) => base + at),
  fc.nat(960).map((hour) => base + hour * hourMs),
  fc.nat(40).map((day) => base + day * dayMs),
)

it('lie without gaps, whole where they are sums, and no record by itself that an hour tells', () => {
  const before = fc.oneof(moment, fc.constant(Number.NEGATIVE_INFINITY))
  const after = fc.oneof(moment, fc.constant(Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(
      before,
      after,
      before,
      fc.constantFrom('hour' as const, 'day' as const, 'week' as const),
      (from, to, summedFrom, longest) => {
        const parts = partsOf({ from, to }, summedFrom, longest)
        if (from >= to) {
          expect(parts).toEqual([])
          return
        }
        let end = to
        for (const part of parts) {
          expect(part.to).toBe(end)
          end = part.from
          const whole = part.by === 'hour' ? hourMs : part.by === 'day' ? dayMs : 7 * dayMs
          if (part.by === 'record') continue
          expect(part.from).toBeGreaterThanOrEqual(summedFrom)
          for (const edge of [part.from, part.to]) if (Number.isFinite(edge)) expect(edge % whole).toBe(0)
          const longer = { hour: ['hour'], day: ['hour', 'day'], week: ['hour', 'day', 'week'] }[longest]
          expect(longer).toContain(part.by)
        }
        expect(end).toBe(from)
        for (const part of parts.filter(({ by }) => by === 'record' && parts.length > 1))
          expect(part.to - part.from < hourMs || part.from < summedFrom).toBe(true)
      },
    ),
  )
})

it('begin where the rows of sums say', () => {
  const time = Date.parse('2026-03-01T20:59:59.999Z')
  expect([startOf(time, 'hour'), startOf(time, 'day')]).toEqual(['2026-03-01T20', '2026-03-01'])
  expect(momentOf('2026-03-01T20')).toBe(Date.parse('2026-03-01T20:00:00Z'))
  expect(momentOf('2026-03-01')).toBe(Date.parse('2026-03-01T00:00:00Z'))
})
