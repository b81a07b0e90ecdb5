import { describe, expect, it } from 'vitest'
import { type ModelPrice, priceVariants, type TokenRates, tokenRateNames } from '../../../src/core/cost/model-price.ts'
import { picoPerToken } from '../../../src/core/cost/money.ts'
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

  /** Every set of rates in a price: base, tiers, and each of them for long context. */
  const ratesOf = (price: ModelPrice): Partial<TokenRates>[] =>
    [price, price.long_context, ...priceVariants.flatMap((name) => [price[name], price[name]?.long_context])].filter(
      (rates) => rates !== null && rates !== undefined,
    )

  it('has whole pico-dollars, so that no rate is rounded', () => {
    const exact = (rate: number | null | undefined) =>
      typeof rate !== 'number' || Math.abs(Number(picoPerToken(rate)) - rate * 1e6) < 1e-3 * Math.max(1, rate * 1e6)
    expect(
      named((price) => ratesOf(price).some((rates) => !tokenRateNames.every((name) => exact(rates[name])))),
    ).toEqual([])
  })

  it('sells cached tokens at most as dear as fresh ones, and never writes a cache for less', () => {
    expect(named((price) => ratesOf(price).some(({ cache_read, input }) => above(cache_read, input)))).toEqual([])
    expect(named(({ audio_cache_read, audio_input }) => above(audio_cache_read, audio_input))).toEqual([])
    expect(named(({ input, cache_write }) => above(input, cache_write))).toEqual([])
    expect(named(({ cache_write, cache_write_1h }) => above(cache_write, cache_write_1h))).toEqual([])
  })

  it.each(tokenRateNames)(
    'has no %s that is dearer where it must be cheaper: batch, flex ≤ base ≤ priority, long context',
    (name) => {
      expect(named(({ batch, [name]: base }) => above(batch?.[name], base))).toEqual([])
      expect(named(({ flex, [name]: base }) => above(flex?.[name], base))).toEqual([])
      expect(named(({ priority, [name]: base }) => above(base, priority?.[name]))).toEqual([])
      expect(named(({ long_context, [name]: base }) => above(base, long_context?.[name]))).toEqual([])
      for (const variant of priceVariants)
        expect(named(({ [variant]: rates }) => above(rates?.[name], rates?.long_context?.[name]))).toEqual([])
      for (const variant of ['batch', 'flex'] as const)
        expect(named((price) => above(price[variant]?.long_context?.[name], price.long_context?.[name]))).toEqual([])
    },
  )

  it.each([
    ['reasoning', 'output'],
    ['audio_output', 'output'],
    ['image_output', 'output'],
    ['audio_input', 'input'],
    ['image_input', 'input'],
  ] as const)('takes no usual rate of %s where the %s costs something else', (part, whole) => {
    const isUsual = (price: ModelPrice, rates: Partial<TokenRates> | null) =>
      price[part] !== null && rates !== null && (rates[whole] ?? price[whole]) !== price[whole] && rates[part] == null
    expect(named((price) => [price.batch, price.flex, price.priority].some((rates) => isUsual(price, rates)))).toEqual(
      [],
    )
    // Images may cost the same in long requests: they only do where they have a rate of their own.
    expect(named((price) => price[part] === price[whole] && isUsual(price, price.long_context))).toEqual([])
  })

  it('has a limit wherever it has rates for long context', () => {
    expect(named(({ long_context }) => long_context !== null && !(long_context.over >= 100_000))).toEqual([])
    const hasLong = (price: ModelPrice) => priceVariants.some((name) => price[name]?.long_context !== undefined)
    expect(named((price) => price.long_context === null && hasLong(price))).toEqual([])
  })

  it('knows what each vendor sells most', () => {
    const known = new Set(prices.map(identity))
    const wanted = ['openai\ngpt-4o-mini', 'openai\ngpt-5', 'anthropic\nclaude-sonnet-4-5', 'gemini\ngemini-2.5-flash']
    expect(wanted.filter((each) => !known.has(`\n${each}`))).toEqual([])
  })
})
