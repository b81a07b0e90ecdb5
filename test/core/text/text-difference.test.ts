import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareTexts } from '../../../src/core/text/text-difference.ts'

describe('the difference of two texts', () => {
  it('is told word by word', () => {
    expect(compareTexts('The sky is blue today.', 'The sea is blue.')).toEqual([
      { kind: 'same', text: 'The ' },
      { kind: 'removed', text: 'sky' },
      { kind: 'added', text: 'sea' },
      { kind: 'same', text: ' is ' },
      { kind: 'removed', text: 'blue today.' },
      { kind: 'added', text: 'blue.' },
    ])
    expect(compareTexts('same', 'same')).toEqual([{ kind: 'same', text: 'same' }])
    expect(compareTexts('', '')).toEqual([])
  })

  it('holds both texts, whole and in order', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', 'word', '  ', 'ü')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = compareTexts(before, after) ?? []
        const without = (kind: string) => parts.flatMap((part) => (part.kind === kind ? [] : [part.text])).join('')
        expect([without('added'), without('removed')]).toEqual([before, after])
      }),
    )
  })

  it('of long texts is told line by line, and of longer ones not at all', () => {
    const words = (count: number, word: string) => Array.from({ length: count }, (_, index) => `${word}${index}`)
    const lines = (word: string) => [...words(5000, word).join(' '), '\nend'].join('')
    expect(compareTexts(`${lines('a')}\n`, `${lines('b')}\n`)?.map(({ kind }) => kind)).toEqual([
      'removed',
      'added',
      'same',
    ])
    expect(compareTexts(words(5000, 'a').join('\n'), words(5000, 'b').join('\n'))).toBeNull()
  })
})
