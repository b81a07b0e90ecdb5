import { describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../../src/core/cost/model-price.ts'
import { readImageUnits } from '../../../src/lanes/openai/units.ts'
import {
  askedRates,
  expectAnswer,
  expectMedia,
  expectTools,
  increment,
  needOf,
  priceAsAsked,
} from '../../../src/policy/limits/expected-use.ts'

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

it.each([
  ['{"quality":"low"}', 408],
  ['{"quality":"medium","n":2}', 2 * 1584],
  ['{"quality":"low","size":"1024x1024"}', 408],
  ['{"size":"1024x1024"}', 6240],
  ['{}', 6240],
])('images of %s hold what their quality takes', (body, output) => {
  const units = readImageUnits({ body: Buffer.from(body), fields: [], head: Buffer.alloc(0), bytes: body.length })
  expect(expectMedia({ ...price(), image_output: 30 }, units)).toMatchObject({ output })
})

describe('tools of the provider', () => {
  const searching = { ...price(), per_search: 0.01 }
  const drawing = { ...price(), image_output: 30 }
  const asks = { searches: 0, images: 0, imageModel: null, imageSize: null }
  const none = () => null

  it('hold an image, where the model may answer with one', () => {
    const draws = { ...price(), output: 12, image_output: 120, batch: { output: 6, image_output: 60 } }
    expect(expectTools(null, draws, none)).toEqual({ usd: 2000n * 108_000n, tokens: 0 })
    expect(expectTools(null, draws, none, { batch: true, answers: 3 })).toEqual({
      ...{ usd: 3n * 2000n * 54_000n, tokens: 0 },
    })
    expect(expectTools(null, { ...draws, image_output: 12 }, none)).toBeUndefined()
  })

  it('hold each search, and nothing where searches have no price', () => {
    expect(expectTools({ ...asks, searches: 3 }, searching, none)).toEqual({ usd: 30_000_000n, tokens: 0 })
    expect(expectTools({ ...asks, searches: 3 }, price(), none)).toBeUndefined()
    expect(expectTools(null, searching, none)).toBeUndefined()
  })

  it.each(['gpt-4o-search-preview-2025-03-11', 'gpt-5-search-api', 'sonar-pro', 'perplexity/sonar'])(
    'hold one of %s, which searches by itself',
    (model) => {
      expect(expectTools(null, { ...searching, model }, none)).toEqual({ usd: 10_000_000n, tokens: 0 })
    },
  )

  it('hold an image as its own endpoint does, at the price of the model that makes it', () => {
    const asked: (string | null)[] = []
    const priceOf = (name: string | null) => {
      asked.push(name)
      return drawing
    }
    const image = { ...asks, images: 1, imageModel: 'drawer' }
    const prompt = 256n * 1000n
    expect(expectTools(image, price(), priceOf)).toEqual({ usd: 6240n * 30_000n + prompt, tokens: 6240 + 256 })
    const low = { ...image, imageSize: 'auto/low' }
    expect(expectTools(low, price(), priceOf)).toEqual({ usd: 408n * 30_000n + prompt, tokens: 408 + 256 })
    expect(expectTools(image, price(), () => ({ ...price(), per_image: { '*': 0.04 } }))).toEqual({
      ...{ usd: 40_000_000n + prompt, tokens: 256 },
    })
    expect(asked).toEqual(['drawer', 'drawer'])
    expect(expectTools(image, price(), none)).toBeUndefined()
  })

  it('are part of what a call needs', () => {
    const beside = { usd: 5n, tokens: 6 }
    expect(needOf({ price: null, input: 3, beside }, 4)).toEqual({ usd: 5n, tokens: 13 })
  })
})

describe('a prompt that is written to the cache', () => {
  const claude = { ...price(), cache_write: 1.25, cache_write_1h: 2, geo: { us: 1.1 } }
  const marked = (ttl: object = {}) => JSON.stringify({ system: [{ cache_control: { type: 'ephemeral', ...ttl } }] })
  const input = (text: string, model: ModelPrice = claude) =>
    priceAsAsked(model, (own) => askedRates(Buffer.from(text), own))?.input

  it.each([
    ['plain', '{"messages":[]}', 1],
    ['marked', marked(), 1.25],
    ['marked for an hour', marked({ ttl: '1h' }), 2],
    ['marked as OpenAI has it', '{"messages":[{"prompt_cache_breakpoint":{"mode":"explicit"}}]}', 1.25],
    ['in the US', `{"inference_geo":"us",${marked().slice(1)}`, 1.375],
  ])('is held at the rate of that: %s', (_what, text, rate) => {
    expect(input(text)).toBe(rate)
  })

  it('also by a price in which nothing else depends on the request, and never below the plain rate', () => {
    expect(input(marked(), { ...claude, geo: null })).toBe(1.25)
    expect(input('{}', { ...claude, geo: null })).toBe(1)
    expect(input(marked({ ttl: '1h' }), { ...claude, cache_write_1h: null })).toBe(1.25)
    expect(input(marked(), { ...claude, cache_write: 0.5 })).toBe(1)
    expect(input(marked(), price())).toBe(1)
  })

  it('has rates of its own where it is long', () => {
    const long = { ...claude, long_context: { over: 10, input: 2, cache_write: 2.5 } }
    expect(priceAsAsked(long, (own) => askedRates(Buffer.from(marked()), own))?.long_context).toMatchObject({
      ...{ over: 10, input: 2.5 },
    })
  })
})

describe('a dearer tier', () => {
  const over = { over: 1000, input: 2, output: 20 }
  const dear = { ...price(), priority: { input: 3, long_context: { input: 6 } }, long_context: over }
  const tier = (text: string, model: ModelPrice = dear) => priceAsAsked(model, () => askedRates(Buffer.from(text)))

  it('is held at its own rates, and at the usual ones where it has none', () => {
    expect(tier('{"model":"m","service_tier":"priority"}')).toMatchObject({
      input: 3,
      output: 10,
      long_context: { over: 1000, input: 6, output: 20 },
    })
    expect(tier('{"serviceTier":"PRIORITY"}')).toMatchObject({ input: 3 })
  })

  it('of OpenAI is called fast, too', () => {
    expect(tier('{"service_tier":"fast"}')).toMatchObject({ input: 3 })
    expect(tier('{"service_tier":"ultrafast"}')).toMatchObject({ input: 3 })
    const ultra = { ...dear, ultrafast: { input: 12 } }
    expect(tier('{"service_tier":"ultrafast"}', ultra)).toMatchObject({ input: 12 })
    expect(tier('{"service_tier":"fast"}', ultra)).toMatchObject({ input: 3 })
  })

  it('is sound, where it may be the answer', () => {
    const audio = { ...price(), output: 10, audio_output: 64 }
    const sound = (text: string, model: ModelPrice) => priceAsAsked(model, (own) => askedRates(Buffer.from(text), own))
    expect(sound('{"modalities":["text","audio"]}', audio)).toMatchObject({ output: 64, input: audio.input })
    expect(sound('{"generationConfig":{"responseModalities":["AUDIO"]}}', audio)).toMatchObject({ output: 64 })
    for (const body of ['{"modalities":["text"]}', '{"messages":[{"role":"user","content":"audio"}]}'])
      expect(sound(body, audio)).toBe(audio)
    const tiers = { ...audio, priority: { input: 2, output: 20 } }
    expect(sound('{"modalities":["audio"],"service_tier":"priority"}', tiers)).toMatchObject({ input: 2, output: 64 })
  })

  it('of Anthropic is a speed, also of a model to fall back to; a place costs more by a factor', () => {
    const claude = { ...price(), fast: { input: 10, output: 50 }, geo: { us: 1.1 }, long_context: over }
    expect(tier('{"speed":"fast"}', claude)).toMatchObject({ input: 10, output: 50 })
    expect(tier('{"fallbacks":[{"model":"m","speed":"fast"}]}', claude)).toMatchObject({ input: 10, output: 50 })
    expect(tier('{"speed":"fast","inference_geo":"us"}', claude)).toMatchObject({ input: 11, output: 55 })
    expect(tier('{"inference_geo":"us"}', claude)?.long_context).toEqual({ over: 1000, input: 2.2, output: 22 })
    expect(tier('{"inference_geo":"global","speed":"standard"}', claude)).toBe(claude)
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
