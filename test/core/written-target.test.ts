import { expect, it } from 'vitest'
import { parseTarget } from '../../src/core/written-target.ts'

it('reads a target with its options', () => {
  expect(parseTarget('a:m:8b,weight=2,priority=1')).toEqual({
    provider: 'a',
    upstreamModel: 'm:8b',
    weight: 2,
    priority: 1,
  })
})

it('does not search a text for options that is longer than any target', () => {
  expect(parseTarget(`a:m${',weight=1'.repeat(300_000)}!`)).toBeNull()
})
