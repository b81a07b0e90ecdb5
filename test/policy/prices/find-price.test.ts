import { describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../../src/core/cost/model-price.ts'
import { PriceBook } from '../../../src/policy/prices/find-price.ts'

const of = (vendor: string | null, model: string, input: number, provider: string | null = null): ModelPrice =>
  fillPrice({ model, vendor, provider, input, source: vendor === null ? 'set' : 'shipped', version: 'v' })
const book = new PriceBook([
  of('openai', 'gpt-4o', 2.5),
  of('openai', 'gpt-4o-2024-05-13', 5),
  of('anthropic', 'claude-sonnet-4-5', 3),
  of('bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 3.3),
  of('vertex', 'claude-sonnet-4-5@20250929', 3.1),
  of('groq', 'openai/gpt-oss-120b', 0.15),
  of('deepseek', 'deepseek-chat', 0.28),
  of(null, 'house-model', 1),
  of(null, 'house-model', 0.5, 'cheap'),
])
const find = (model: string, vendor: string | null = null, provider = 'p') =>
  book.find({ provider, vendor, model })?.input ?? null

describe('a price is found', () => {
  it.each([
    ['by its exact name', 'gpt-4o', 'openai', 2.5],
    ['by the exact name before the plainer one', 'gpt-4o-2024-05-13', 'openai', 5],
    ['without a date with hyphens', 'gpt-4o-2024-08-06', 'openai', 2.5],
    ['without a date of eight digits', 'claude-sonnet-4-5-20250929', 'anthropic', 3],
    ['by a name with region, vendor, date and version', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock', 3.3],
    ['without a region', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'bedrock', 3],
    ['without an @version', 'claude-sonnet-4-5@20991231', 'vertex', 3],
    ['from the maker behind a cloud', 'gpt-4o', 'azure-openai', 2.5],
    ['from the maker where the vendor is unknown', 'deepseek-chat', null, 0.28],
    ['for every provider, where an operator set it', 'house-model', 'groq', 1],
  ])('%s', (_how, model, vendor, input) => {
    expect(find(model, vendor)).toBe(input)
  })

  it.each([
    ['never by prefix', 'gpt-4o-mini', 'openai'],
    ['never of another vendor', 'gpt-4o', 'groq'],
    ['never for a server that people run themselves', 'deepseek-chat', 'ollama'],
    ['never of an empty name', '', null],
  ])('%s', (_how, model, vendor) => {
    expect(find(model, vendor)).toBeNull()
  })

  it("of the provider's own before that of the model", () => {
    expect(find('house-model', null, 'cheap')).toBe(0.5)
    expect(find('house-model', null, 'other')).toBe(1)
  })

  it('again when it is asked for again, and none again where there is none', () => {
    for (let time = 0; time < 2; time++) expect([find('gpt-4o', 'openai'), find('gpt-4o', 'groq')]).toEqual([2.5, null])
  })

  it.each(['openai', 'anthropic', 'gemini', 'mistral', 'deepseek', 'xai', 'moonshot', 'perplexity'])(
    'from %s, who sells what it makes, where the vendor is unknown',
    (maker) => {
      const own = new PriceBook([of('groq', 'm', 9), of(maker, 'm', 1)])
      expect(own.find({ provider: 'p', vendor: null, model: 'm' })?.input).toBe(1)
    },
  )

  it.each([
    ['azure-openai', 'openai'],
    ['bedrock', 'anthropic'],
    ['vertex', 'gemini'],
    ['vertex', 'anthropic'],
  ])('of what %s sells from %s, unless it has a price of its own', (vendor, maker) => {
    const target = { provider: 'p', vendor, model: 'm' }
    expect(new PriceBook([of(maker, 'm', 1)]).find(target)?.input).toBe(1)
    expect(new PriceBook([of(maker, 'm', 1), of(vendor, 'm', 2)]).find(target)?.input).toBe(2)
    expect(new PriceBook([of('groq', 'm', 1)]).find(target)).toBeNull()
  })

  it('for no other pair of provider, vendor and model that reads the same', () => {
    const own = new PriceBook([of('b', 'c', 1, 'a'), of(null, 'bc', 2, 'a')])
    expect(own.find({ provider: 'ab', vendor: null, model: 'c' })).toBeNull()
    expect(own.find({ provider: 'a', vendor: null, model: 'bc' })?.input).toBe(2)
    expect(new PriceBook([of('open', 'aim', 1)]).find({ provider: 'p', vendor: 'openai', model: 'm' })).toBeNull()
  })
})
