import fc, { array, constantFrom, property, string, stringMatching } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { captureStar, compilePattern, fillStar, matchesPattern } from '../../src/core/pattern.ts'
import { quote } from '../../src/core/text/quote.ts'

// A small alphabet, so that matches happen.
const letters = (max: number) => array(constantFrom('a', 'b', '.'), { maxLength: max }).map((parts) => parts.join(''))
const patternText = array(constantFrom('a', 'b', '.', '*'), { maxLength: 6 }).map((parts) => parts.join(''))
const oneStar = letters(3).chain((before) => letters(3).map((after) => `${before}*${after}`))

function reference(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll('.', '\\.'))
      .join('.*')}$`,
  )
}

describe('patterns', () => {
  it('match what the same regular expression matches', () => {
    fc.assert(
      property(patternText, letters(8), (text, name) => {
        expect(matchesPattern(compilePattern(text), name)).toBe(reference(text).test(name))
      }),
      { numRuns: 3000 },
    )
  })

  it('give back the name from what the star took', () => {
    fc.assert(
      property(oneStar, letters(5), (text, taken) => {
        const pattern = compilePattern(text)
        const name = fillStar(pattern, taken)
        expect(matchesPattern(pattern, name)).toBe(true)
        expect(captureStar(pattern, name)).toBe(taken)
      }),
    )
  })

  it('do not let the ends share a character', () => {
    expect(matchesPattern(compilePattern('ab*ba'), 'aba')).toBe(false)
    expect(matchesPattern(compilePattern('ab*ba'), 'abba')).toBe(true)
  })
})

describe('quote', () => {
  it('never leaves a control character, and never grows beyond its bound', () => {
    fc.assert(
      property(string({ unit: 'binary', maxLength: 200 }), (name) => {
        const quoted = quote(name)
        expect(quoted).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u)
        expect(quoted.length).toBeLessThanOrEqual(83)
      }),
    )
  })

  it('leaves a plain name as it is', () => {
    fc.assert(
      property(stringMatching(/^[a-z0-9./:-]{1,80}$/), (name) => {
        expect(quote(name)).toBe(`"${name}"`)
      }),
    )
  })
})
