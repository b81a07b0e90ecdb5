import fc, { array, constantFrom, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { closestName, closestNames, editDistance } from '../../../src/core/text/closest-names.ts'

const word = array(constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((parts) => parts.join(''))

describe('editDistance', () => {
  it('counts a swap, a slip, a lost and an added character as one each', () => {
    for (const other of ['gtp', 'gxt', 'gp', 'gppt']) expect(editDistance('gpt', other, 3)).toBe(1)
  })

  it('is symmetric, zero only for equal words, and gives up beyond the limit without changing what is within', () => {
    fc.assert(
      property(word, word, constantFrom(1, 2, 3), (one, other, limit) => {
        const whole = editDistance(one, other, 100)
        expect(editDistance(other, one, 100)).toBe(whole)
        expect(whole === 0).toBe(one === other)
        expect(editDistance(one, other, limit)).toBe(whole <= limit ? whole : Number.POSITIVE_INFINITY)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('closestNames', () => {
  it('gives the likeliest first, three at most', () => {
    expect(closestNames('gpt-4o', ['gpt-4', 'gtp-4o', 'gpt-40', 'gpt-4oo', 'claude'])).toEqual([
      'gpt-4',
      'gpt-40',
      'gpt-4oo',
    ])
  })

  it('knows dated names and other cases', () => {
    expect(closestNames('claude-sonnet-4', ['claude-sonnet-4-20250514'])).toEqual(['claude-sonnet-4-20250514'])
    expect(closestNames('GPT-4O', ['gpt-4o'])).toEqual(['gpt-4o'])
  })

  it('stops looking after a while', () => {
    const many = Array.from({ length: 3000 }, (_, index) => `zz-${index + 1000}`)
    expect(closestNames('gtp-4ox', ['gpt-4ox', ...many])).toEqual(['gpt-4ox'])
    expect(closestNames('gtp-4ox', [...many, 'gpt-4ox'])).toEqual([])
  })

  it('has nothing to say to a name that is no slip', () => {
    expect(closestNames('mistral-large', ['gpt-4o'])).toEqual([])
    expect(closestNames('x'.repeat(5000), ['x'.repeat(5000)])).toEqual([])
  })
})

describe('closestName', () => {
  it.each([
    ['kinnd', 'kind'],
    ['KIND', 'kind'],
    ['tiemouts', 'timeouts'],
    ['nmae', 'name'],
    ['xy', null],
    ['settings', null],
    ['k'.repeat(100_000), null],
  ])('takes %.20s for %s', (asked, meant) => {
    expect(closestName(asked, ['name', 'kind', 'timeouts', 'tags'])).toBe(meant)
  })

  it('prefers the nearer, and of two the first', () => {
    expect(closestName('route', ['router', 'routes'])).toBe('router')
    expect(closestName('routs', ['rounds', 'routes'])).toBe('routes')
  })
})
