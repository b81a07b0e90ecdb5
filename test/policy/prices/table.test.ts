import { describe, expect, it } from 'vitest'
import { type ModelPrice, tokenRateNames } from '../../../src/core/model-price.ts'
import { identity } from '../../../src/policy/prices/find-price.ts'
import { listPrices } from '../../../src/policy/prices/list-prices.ts'

const prices = await listPrices({ table: async () => null, list: async () => [] }, [])
const named = (wrong: (price: ModelPrice) => boolean) => prices.filter(wrong).map(identity)
const above = (one: number | null | undefined, other: number | null | undefined) =>
  typeof one === 'number' && typeof other === 'number' && one > other

describe('the shipped table', () => {
  it('has each model of a vendor once, dated', () => {
    expect(new Set(prices.map(identity)).size).toBe(prices.length)
    expect(named(({ version, source }) => !/^\d{4}-\d{2}-\d{2}$/.test(version) || source !== 'shipped')).toEqual([])
  })

  it('has only rates that are numbers, and none that is mistyped by a million', () => {
    const wrong = (rate: number | null) => rate !== null && !(Number.isFinite(rate) && rate >= 0 && rate <= 10_000)
    expect(named((price) => tokenRateNames.some((name) => wrong(price[name])))).toEqual([])
  })

  it('sells cached tokens at most as dear as fresh ones, and long context and batches on the right side', () => {
    expect(named(({ cache_read, input }) => above(cache_read, input))).toEqual([])
    expect(named(({ input, long_context }) => above(input, long_context?.input))).toEqual([])
    expect(named(({ input, batch }) => above(batch?.input, input))).toEqual([])
    expect(named(({ output, batch }) => above(batch?.output, output))).toEqual([])
  })

  it('knows what each vendor sells most', () => {
    const known = new Set(prices.map(identity))
    const wanted = ['openai\ngpt-4o-mini', 'openai\ngpt-5', 'anthropic\nclaude-sonnet-4-5', 'gemini\ngemini-2.5-flash']
    expect(wanted.filter((each) => !known.has(`\n${each}`))).toEqual([])
  })
})
