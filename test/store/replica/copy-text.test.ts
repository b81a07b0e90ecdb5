import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readCopied } from '../../../src/cluster/records/write-records.ts'
import { copyJson, copyLine } from '../../../src/store/replica/copy-text.ts'

it('is read as the values that it was made of', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\\N', '\\.', '', '\t\n\\', '\0'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 5 }), (rows) => {
      const wanted = rows.map((row) => row.map((each) => each?.replaceAll('\0', '\ufffd') ?? null))
      const text = rows.map((row) => `${copyLine(row)}\n`).join('')
      expect(text.split('\n')).toHaveLength(rows.length + 1)
      expect(readCopied(text)).toEqual(wanted)
    }),
  )
})

it('writes JSON as any other text, and nothing as null', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(copyJson(text)).toBe(copyLine([text]))
    }),
  )
  expect(copyJson(null)).toBe(copyLine([null]))
})

it('writes numbers as they are, and nothing as null', () => {
  expect(copyLine([1, 0.1, null, 'a\tb'])).toBe('1\t0.1\t\\N\ta\\tb')
})
