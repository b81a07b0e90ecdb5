import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { momentText } from '../../src/admin/contract/fields.ts'
import { readMoment } from '../../src/admin/handlers/moments.ts'
import { parseMoment } from '../../src/core/moment.ts'

describe('a moment', () => {
  it('is read as every surface writes it', () => {
    const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    fc.assert(
      fc.property(time, (date) => {
        const text = date.toISOString()
        expect(parseMoment(text)).toBe(date.getTime())
        expect(parseMoment(text.slice(0, 10))).toBe(Date.parse(text.slice(0, 10)))
        expect(momentText.safeParse(text).success).toBe(true)
        expect(readMoment(text, 'back')).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31 12:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z'],
    [' 2026-01-31T12:00:00Z ', '2026-01-31T12:00:00.000Z'],
  ])('%j is %s', (text, moment) => {
    expect(new Date(parseMoment(text) ?? Number.NaN).toISOString()).toBe(moment)
  })

  // What JavaScript takes for one of these: a number that lacks its unit, above all, would be some year.
  it.each([
    ...['7', '12', '45', '90', '2026', '-1', '1.5', '2026-1-1', '2026-02', '2026-02-30', '2027-02-29', '2026-13-01'],
    ...[
      '2026-00-10',
      '2026-01-00',
      '2026-01-31 (x)',
      '2026-01-31T12:00:00',
      '2026-01-31T25:00:00Z',
      '2026-01-31T12:60Z',
    ],
    ...[
      '2026-01-31T12:00:00+2:00',
      '31 Jan 2026',
      'Jan 31, 2026',
      'yesterday',
      'now',
      '',
      ' ',
      '2026-01-31T',
      'T12:00Z',
    ],
    ...['+002026-01-31', '2026-01-31T12:00:00Z2', '２026-01-31'],
  ])('is not %j', (text) => {
    expect(parseMoment(text)).toBeNull()
    expect(momentText.safeParse(text).success).toBe(false)
  })
})
