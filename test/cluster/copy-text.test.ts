import fc from 'fast-check'
import { expect, it } from 'vitest'
import { copyText } from '../../src/cluster/records/copy-text.ts'

/** As PostgreSQL reads its text format. */
function readCopied(text: string): (string | null)[][] {
  const undo = (value: string) =>
    value.replace(
      /\\(.)/g,
      (_, letter: string) => ({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' })[letter] ?? letter,
    )
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').map((value) => (value === '\\N' ? null : undo(value))))
}

it('is read as the values that it was made of', () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\\N', '\\.', '', '\t\n\\', '\0'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 5 }), (rows) => {
      const wanted = rows.map((row) => row.map((each) => each?.replaceAll('\0', '\ufffd') ?? null))
      expect(readCopied(copyText(rows))).toEqual(wanted)
    }),
  )
})

it('writes numbers as they are, and nothing as null', () => {
  expect(copyText([[1, 0.1, null, 'a\tb']])).toBe('1\t0.1\t\\N\ta\\tb\n')
})
