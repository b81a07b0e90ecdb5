import { describe, expect, it } from 'vitest'
import { fillPrice } from '../../../src/core/model-price.ts'
import { asksPriority, expectAnswer, increment, needOf, priceForTier } from '../../../src/policy/limits/expected-use.ts'

const price = (max_output: number | null = null) =>
  fillPrice({ model: 'm', source: 'set', version: 'v', input: 1, output: 10, max_output })
const size = (outputLimit: number | null, streamed: boolean, answers = 1) => ({ outputLimit, streamed, answers })

describe('how long an answer may get', () => {
  it.each([
    ['as the client says', price(), size(500, false), { output: 500, grows: false }],
    ['no longer than the model writes', price(300), size(500, true), { output: 300, grows: false }],
    ['each of several as long as the model writes', price(300), size(5000, false, 4), { output: 1200, grows: false }],
    ['a step at a time in a stream', price(), size(null, true), { output: increment, grows: true }],
    ['a step that the model cannot fill is shorter', price(300), size(null, true), { output: 300, grows: true }],
    ['whole, as long as the model writes', price(300), size(null, false, 2), { output: 600, grows: false }],
  ])('%s', (_what, of, asked, wanted) => {
    expect(expectAnswer(of, false, asked)).toEqual(wanted)
  })

  it('is not known of a whole answer without any limit, unless it is free', () => {
    expect(expectAnswer(price(), false, size(null, false))).toBeNull()
    expect(expectAnswer(null, true, size(null, false))).toEqual({ output: increment, grows: false })
  })
})

it('a call needs at least one unit of each kind, so that nothing passes a budget that is used up', () => {
  expect(needOf({ price: fillPrice({ model: 'm', source: 'set', version: 'v', input: 0 }), input: 0 }, 0)).toEqual({
    usd: 1n,
    tokens: 1,
  })
  expect(needOf({ price: null, input: 3 }, 4)).toEqual({ usd: 0n, tokens: 7 })
})

describe('a dearer tier', () => {
  const over = { over: 1000, input: 2, output: 20 }
  const dear = { ...price(), priority: { input: 3, long_context: { input: 6 } }, long_context: over }
  const tier = (text: string) => priceForTier(dear, () => asksPriority(Buffer.from(text)))

  it('is held at its own rates, and at the usual ones where it has none', () => {
    expect(tier('{"model":"m","service_tier":"priority"}')).toMatchObject({
      input: 3,
      output: 10,
      long_context: { over: 1000, input: 6, output: 20 },
    })
    expect(tier('{"serviceTier":"PRIORITY"}')).toMatchObject({ input: 3 })
  })

  it.each([
    '{"service_tier":"flex"}',
    '{"metadata":{"service_tier":"priority"}}',
    '{"service_tier":["priority"]}',
    'no',
  ])('is not asked for by %s', (body) => {
    expect(tier(body)).toBe(dear)
  })
})
