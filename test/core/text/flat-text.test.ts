import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isoTime } from '../../../src/core/text/flat-text.ts'

it('is the text that the language gives', () => {
  const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
  fc.assert(
    fc.property(time, fc.integer({ min: -2000, max: 2000 }), (first, step) => {
      for (const each of [first, first + step]) expect(isoTime(each)).toBe(new Date(each).toISOString())
    }),
  )
})
