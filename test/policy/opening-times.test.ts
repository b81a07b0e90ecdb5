import { describe, expect, it } from 'vitest'
import { parseOpening } from '../../src/core/policies/opening.ts'
import { minutesLater, nextChange } from '../../src/policy/opening-times.ts'

const minute = (day: number, time: string) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (day * 24 + hours) * 60 + minutes
}
const [monday, friday, sunday] = [0, 4, 6]

describe('the next change of hours', () => {
  it('says in how many minutes it opens or closes, also where hours follow one another or always are', () => {
    const read = (...texts: string[]) => texts.flatMap((text) => parseOpening(text) ?? [])
    const hours = read('Mon-Fri 08:00-12:00', 'Mon-Fri 12:00-18:00', 'Sat 22:00-02:00')
    expect(nextChange(hours, minute(friday, '19:00'))).toBe(27 * 60)
    expect(nextChange(hours, minute(friday, '09:00'))).toBe(9 * 60)
    expect(nextChange(hours, minute(sunday, '01:30'))).toBe(30)
    expect(nextChange(hours, minute(sunday, '02:00'))).toBe(30 * 60)
    expect(nextChange(read('00:00-24:00'), minute(monday, '10:00'))).toBeNull()
    expect(nextChange(read('00:00-12:00', '12:00-24:00'), minute(monday, '10:00'))).toBeNull()
  })

  it('counts minutes on the clocks, also over nights in which they change', () => {
    const later = (now: string, minutes: number) =>
      new Date(minutesLater('Europe/Berlin', Date.parse(now), minutes)).toISOString()
    expect(later('2026-11-28T10:00:59Z', 61)).toBe('2026-11-28T11:01:00.000Z')
    // From noon to noon: 23 hours, and 25.
    expect(later('2026-03-28T11:00:00Z', 1440)).toBe('2026-03-29T10:00:00.000Z')
    expect(later('2026-10-24T10:00:00Z', 1440)).toBe('2026-10-25T11:00:00.000Z')
    // 02:30 does not exist.
    expect(later('2026-03-29T00:00:00Z', 90)).toBe('2026-03-29T01:30:00.000Z')
  })
})
