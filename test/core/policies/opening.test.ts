import { describe, expect, it } from 'vitest'
import { isOpen, nextOpening, parseOpening } from '../../../src/core/policies/opening.ts'

const minute = (day: number, time: string) => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return (day * 24 + hours) * 60 + minutes
}
const [monday, tuesday, friday, saturday, sunday] = [0, 1, 4, 5, 6]

describe('parseOpening', () => {
  const bad = [
    '',
    'always',
    'Mon-Fri',
    '8:00-18:00',
    '08:00-08:00',
    '24:00-01:00',
    '08:00-24:01',
    '08:60-09:00',
    'Mon-Xyz 08:00-18:00',
    'Mon-Tue-Wed 08:00-18:00',
    'Mon, Tue 08:00-18:00',
    '08:00-18:00 Mon',
  ]
  for (const text of bad) it(`rejects ${JSON.stringify(text)}`, () => expect(parseOpening(text)).toBeNull())
})

describe('an opening', () => {
  const cases: [text: string, open: [number, string][], shut: [number, string][]][] = [
    [
      'Mon-Fri 08:00-18:00',
      [
        [monday, '08:00'],
        [friday, '17:59'],
      ],
      [
        [monday, '07:59'],
        [friday, '18:00'],
        [saturday, '12:00'],
      ],
    ],
    [
      '22:00-06:00',
      [
        [sunday, '23:59'],
        [monday, '00:00'],
        [monday, '05:59'],
      ],
      [
        [monday, '06:00'],
        [monday, '21:59'],
      ],
    ],
    [
      'sun 22:00-06:00',
      [
        [sunday, '22:00'],
        [monday, '05:59'],
      ],
      [
        [sunday, '05:59'],
        [monday, '22:00'],
      ],
    ],
    [
      'Sat-Mon 00:00-24:00',
      [
        [saturday, '00:00'],
        [sunday, '12:00'],
        [monday, '23:59'],
      ],
      [
        [tuesday, '00:00'],
        [friday, '23:59'],
      ],
    ],
    ['Mon,Fri 09:00-10:00', [[friday, '09:30']], [[tuesday, '09:30']]],
  ]
  for (const [text, open, shut] of cases) {
    it(text, () => {
      const openings = parseOpening(text) ?? []
      expect(open.map(([day, time]) => isOpen(openings, minute(day, time)))).toEqual(open.map(() => true))
      expect(shut.map(([day, time]) => isOpen(openings, minute(day, time)))).toEqual(shut.map(() => false))
    })
  }

  it('says when it opens next', () => {
    const openings = ['Mon-Fri 08:00-18:00', 'Sat 10:30-12:00'].flatMap((text) => parseOpening(text) ?? [])
    expect(nextOpening(openings, minute(friday, '19:00'))).toBe('Sat 10:30')
    expect(nextOpening(openings, minute(sunday, '23:59'))).toBe('Mon 08:00')
    expect(nextOpening(openings, minute(monday, '18:00'))).toBe('Tue 08:00')
  })
})
