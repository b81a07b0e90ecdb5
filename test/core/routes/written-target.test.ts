import { expect, it } from 'vitest'
import { parseTarget, writeTarget } from '../../../src/core/routes/written-target.ts'

it('reads a target with its options', () => {
  expect(parseTarget('a:m:8b,weight=2,priority=1')).toEqual({
    provider: 'a',
    upstreamModel: 'm:8b',
    weight: 2,
    priority: 1,
    format: null,
  })
  expect(parseTarget('a:m,format=responses,weight=2')).toEqual({
    provider: 'a',
    upstreamModel: 'm',
    weight: 2,
    priority: null,
    format: 'responses',
  })
})

it('writes what it reads', () => {
  for (const text of ['a', 'a:m', 'a:m,weight=2,priority=1,format=chat', 'a,format=generate'])
    expect(writeTarget(parseTarget(text) ?? never())).toBe(text)
  // A word that is no format belongs to the model's name.
  expect(parseTarget('a:m,format=cobol')?.upstreamModel).toBe('m,format=cobol')
})

function never(): never {
  throw new Error('no target')
}

it('does not search a text for options that is longer than any target', () => {
  expect(parseTarget(`a:m${',weight=1'.repeat(300_000)}!`)).toBeNull()
})
