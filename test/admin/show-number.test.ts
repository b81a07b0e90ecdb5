import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  alignedDigits,
  formatMilliseconds,
  formatMoney,
  formatRate,
  formatShare,
  groupDigits,
  missingDigits,
  moneyDigits,
} from '../../src/admin/contract/show-number.ts'

const percentOf = (text: string) => Number(/[\d.]+/.exec(text)?.[0])

it('a share has three digits at most, grows with what it is of, and is nothing or all only where it is', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(share, share, (one, other) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)].map(formatShare)
      expect(less).toMatch(/^(< 0\.1|> 99\.9|\d\.\d|99\.\d|\d\d|0|100)%$/)
      expect(percentOf(less ?? '')).toBeLessThanOrEqual(percentOf(more ?? ''))
      expect(formatShare(one) === '100%').toBe(one === 1)
      expect(formatShare(one) === '0%').toBe(one === 0)
    }),
    { numRuns: 500 },
  )
})

it.each([
  [0.0994, '9.9%'],
  [0.0996, '10%'],
  [0.09999, '10%'],
  [0.1, '10%'],
  [0.9949, '99.4%'],
])('%d is %s', (share, text) => expect(formatShare(share)).toBe(text))

it.each([
  [0, '0 ms'],
  [0.04, '< 0.1 ms'],
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [999.6, '1000 ms'],
  [59_949, '59.9 s'],
  [59_950, '1 min'],
  [3_599_499, '59 min 59 s'],
  [3_600_000, '1 h'],
  [172_799_000, '47 h 59 min'],
  [172_800_000, '2 d'],
])('%d milliseconds are %s', (milliseconds, text) => expect(formatMilliseconds(milliseconds)).toBe(text))

it.each([
  [0, '$0.00'],
  [0.009, '$0.009'],
  [0.01, '$0.01'],
  [0.0001, '$0.0001'],
  // What is set is never shown as more or less than it is.
  [0.0051, '$0.0051'],
  [0.015, '$0.015'],
  [0.00125, '$0.00125'],
  [1.005, '$1.005'],
  [12.3456, '$12.3456'],
  [0.3, '$0.30'],
  [0.1 + 0.2, '$0.30'],
  // What was counted has at least three digits that are true.
  [0.00512345, '$0.00512'],
  [0.0099612, '$0.00996'],
  [0.000003812, '$0.000003812'],
  [0.00000381234, '$0.00000381'],
  [0.123456, '$0.123'],
  [1.938472, '$1.94'],
  [0.9996, '$0.9996'],
  [-1.5, '-$1.50'],
  [1234.5, '$1,234.50'],
])('%d dollars are %s', (usd, text) => expect(formatMoney(usd)).toBe(text))

it('money that is there is never shown as none', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (usd) => {
      expect(formatMoney(usd)).toMatch(/[1-9]/)
      expect(formatMoney(-usd)).toBe(`-${formatMoney(usd)}`)
      expect(groupDigits(Math.round(usd)).replaceAll(',', '')).toBe(String(Math.round(usd)))
    }),
  )
})

it.each([
  [0, '$0.00'],
  [10, '$10.00'],
  [0.075, '$0.075'],
  [0.0005, '$0.0005'],
  [0.000003, '$0.000003'],
  [1234.5, '$1,234.50'],
])('a rate of %d is %s, with all its digits', (usd, text) => expect(formatRate(usd)).toBe(text))

it('amounts of a column have their points under one another, and a tiny one pushes none aside', () => {
  const column = ['$0.15', '$10.00', '$0.075', '–', '-$2.50']
  const digits = alignedDigits(column)
  expect(column.map((text) => missingDigits(text, digits))).toEqual([1, 1, 0, 0, 1])
  expect(alignedDigits(['$0.15', '$0.000000001'])).toBe(4)
  expect(missingDigits('$0.000000001', 4)).toBe(0)
})

it('digits of an amount are counted as they are written', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (usd) => {
      expect(moneyDigits(usd)).toBe(formatMoney(usd).split('.')[1]?.length)
    }),
  )
})
