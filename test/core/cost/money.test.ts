import { expect, it } from 'vitest'
import { nanoOfPico, picoPerToken, picoPerUnit, roundUsd, usdOfNano } from '../../../src/core/cost/money.ts'

it('of rates is exact to a pico-dollar', () => {
  expect([picoPerToken(2.5), picoPerToken(0.02), picoPerToken(0.0000014)]).toEqual([2_500_000n, 20_000n, 1n])
  expect([picoPerUnit(0.04), picoPerUnit(1e-12), picoPerUnit(10_000)]).toEqual([
    40_000_000_000n,
    1n,
    10_000_000_000_000_000n,
  ])
})

it('of a call is rounded up once, so that nothing that was used is free', () => {
  expect([0n, 1n, 999n, 1000n, 1001n].map(nanoOfPico)).toEqual([0n, 1n, 1n, 1n, 2n])
})

it('of sums has no more digits than there are nano-dollars', () => {
  expect(0.1 + 0.2).not.toBe(0.3)
  expect([roundUsd(0.1 + 0.2), roundUsd(1.2345678914), roundUsd(-0.3 + 0.1)]).toEqual([0.3, 1.234567891, -0.2])
  expect([usdOfNano(1n), usdOfNano(4_000_000_000_000_001n)]).toEqual([1e-9, 4_000_000.000000001])
})
