import { expect, it } from 'vitest'
import { readPattern } from '../../../src/policy/content/pattern-parts.ts'
import { wrongPattern } from '../../../src/policy/content/pattern-seeker.ts'

it.each([
  ['ab', 2],
  ['a{2,300}b', 301],
  ['a{7}[^x]*\\pL{2,}', 10],
  ['x(?:ab{3}){5}', 26],
  ['(a|(b{2}c){10}){3}', 126],
  ['a{0}', 1],
] as const)('of %s is what its repetitions write out', (pattern, weight) => {
  expect(readPattern(pattern).weight).toBe(weight)
})

it.each([
  ['repetitions one after the other', `x${'a{0,1000}'.repeat(100)}y`],
  ['repetitions of repetitions', '(?:(?:a{30}b{30}){30})'],
  ['many alternatives', Array(2000).fill('ab').join('|')],
  ['many groups', '('.repeat(1500)],
])('is refused where compiling it would stop a thread: %s', (_what, pattern) => {
  expect(wrongPattern(pattern)).toContain('1000 are the most')
})

it('lets pass what people write', () => {
  for (const pattern of ['(?i)project zeus', 'ACME-\\d{1,8}', '[A-Z]{2}\\d{2}(?: ?[0-9A-Z]{4}){3,7}', '.{1,900}end'])
    expect(wrongPattern(pattern)).toBeNull()
})

it('says what is wrong with what is no pattern', () => {
  for (const pattern of ['(a', '[a', '[[:alpha', 'a{2', ')', '\\'])
    expect([pattern, typeof wrongPattern(pattern)]).toEqual([pattern, pattern === 'a{2' ? 'object' : 'string'])
})
