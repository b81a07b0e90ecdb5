import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { skipSmallValue } from '../../src/core/json-scan.ts'
import { skipLargeValue } from '../../src/core/large-value.ts'
import { WatchedNames } from '../../src/core/watched-names.ts'

const names = new WatchedNames(['file_id', 'conversation', 'skill_id', 'id'])

function skipBoth(bytes: Buffer, at = 0) {
  return [skipLargeValue, skipSmallValue].map((skip) => {
    const watch = { names, seen: false }
    return { end: skip(bytes, at, bytes.length, watch, false), seen: watch.seen }
  })
}

/** Texts in which all that means something in a string stands close together. */
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '{', '}', ' ', '😀'), maxLength: 40 })
const key = fc.oneof(
  fc.constantFrom('file_id', 'conversation', 'id', 'role', ''),
  fc.constantFrom(
    'File_ID',
    'conver\u017fation',
    '\u017f\u212aill_id',
    'ID',
    'filé_id',
    'i\u212a',
    '\u017e\u212bill_id',
  ),
  text,
)
const { value: document } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(text, fc.double({ noNaN: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))
const spacing = fc.constantFrom(undefined, 1, '\t')
/** So much before it that the first piece, of 1 KB, or the next, of 64, ends somewhere in it. */
const before = fc.oneof(fc.integer({ min: 0, max: 1100 }), fc.integer({ min: 66_450, max: 66_600 }))

describe('a large value', () => {
  it('is skipped as a small one is', () => {
    fc.assert(
      fc.property(document, spacing, before, (value, space, length) => {
        const bytes = Buffer.from(JSON.stringify(['x'.repeat(length), value], null, space))
        const [large, small] = skipBoth(bytes)
        expect(large).toEqual(small)
        expect(large!.end).toBe(bytes.length)
      }),
      { numRuns: 1500 },
    )
  })

  it('is refused where a small one is', () => {
    const odd = fc.constantFrom(
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '-',
      '.',
      'e',
      '0',
      'tru',
      'falze',
      'n',
      ' ',
      '\\u',
    )
    fc.assert(
      fc.property(document, before, fc.nat(), fc.nat({ max: 3 }), odd, (value, length, where, cut, wrong) => {
        const whole = JSON.stringify(['x'.repeat(length), value])
        const place = length + 4 + (where % (whole.length - length - 3))
        const bytes = Buffer.from(whole.slice(0, place) + wrong + whole.slice(place + cut))
        const [large, small] = skipBoth(bytes)
        expect(large).toEqual(small)
      }),
      { numRuns: 3000 },
    )
  })

  it('that ends too early is refused at its end', () => {
    fc.assert(
      fc.property(document, before, fc.nat(), (value, length, cut) => {
        const whole = Buffer.from(JSON.stringify(['x'.repeat(length), value]))
        const [large, small] = skipBoth(whole.subarray(0, whole.length - 1 - (cut % 200)))
        expect(large).toEqual(small)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['runs of backslashes', `"${'\\\\'.repeat(40_000)}\\""`],
    [
      'escapes at every place of 16',
      JSON.stringify(Array.from({ length: 9000 }, (_, index) => '\\"'.repeat(index % 9))),
    ],
    ['very many numbers', `[${Array.from({ length: 60_000 }, (_, index) => index / 7).join(',')}]`],
    ['very deep', `${'['.repeat(9999)}1${']'.repeat(9999)}`],
  ])('of %s is skipped whole', (_, json) => {
    const bytes = Buffer.from(`${json},and what follows`)
    const [large, small] = skipBoth(bytes)
    expect(large).toEqual(small)
    expect(large!.end).toBe(Buffer.byteLength(json))
  })

  it.each([
    ['too deep', '['.repeat(10_001), 10_000],
    ['of a number without an end', `[${'1'.repeat(200_000)}]`, 1],
    ['of a key without an end', `{"${'k'.repeat(200_000)}":1}`, 1],
  ])('%s is refused', (_, json, at) => {
    expect(skipLargeValue(Buffer.from(json), 0, json.length, null)).toBe(~at)
  })
})
