import { describe, expect, it } from 'vitest'
import { findDeepNesting } from '../../src/config/nesting.ts'
import { growth } from '../support/count-steps.ts'

const steps = (count: number) => Array.from({ length: count }, (_, level) => `${' '.repeat(level)}a:`).join('\n')

describe('a file', () => {
  it.each([
    ['lists', '['.repeat(1000)],
    ['maps', '{a: '.repeat(1000)],
    ['lists of a block', `a:\n  ${'- '.repeat(1000)}`],
    ['keys of a block', '? '.repeat(1000)],
    ['lines that are indented ever further', steps(1500)],
  ])('of deep %s is known without being parsed', (_what, text) => {
    expect(findDeepNesting(text)).not.toBeNull()
  })

  it.each([
    ['lists and maps', `a: ${'[{a: '.repeat(140)}1${'}]'.repeat(140)}`],
    ['indented lines', steps(280)],
    ['many lists', '- [a, {b: c}]\n'.repeat(1000)],
    [
      'brackets within texts',
      `a: "${'['.repeat(1000)}"\nb: '${'{'.repeat(1000)}'\nc: x${'['.repeat(1000)}\nd: |\n  ${'['.repeat(1000)}\n`,
    ],
    ['dashes within texts', `a: ${'- '.repeat(1000)}`.replace(': - ', ': x - ')],
    ['long lines', `a: { ${Array.from({ length: 500 }, (_, at) => `k${at}: 1`).join(', ')} }`],
    ['continued lines', `a: [x,\n${' '.repeat(1000)}y]\nb: x\n${' '.repeat(1000)}y\n`],
  ])('with %s is not', (_what, text) => {
    expect(findDeepNesting(text)).toBeNull()
  })

  it('costs a few steps a byte', async () => {
    expect(await growth((size) => findDeepNesting('- [a, {b: c}]\n'.repeat(size)), 500)).toBeLessThan(2.2)
  })
})
