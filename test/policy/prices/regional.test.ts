import { describe, expect, it } from 'vitest'
import { fillPrice } from '../../../src/core/cost/model-price.ts'
import { PriceBook } from '../../../src/policy/prices/find-price.ts'
import { listPrices } from '../../../src/policy/prices/list-prices.ts'

const place = (name: string, kind: string, baseUrl: string, settings: Record<string, string> = {}) => ({
  ...{ id: `prv_${name}`, name, kind },
  revision: { baseUrl, settings },
})
const providers = [
  place('plain', 'openai', 'https://api.openai.com/v1'),
  place('eu', 'openai', 'https://eu.api.openai.com/v1'),
  place('jp', 'openai-compatible', 'https://jp.api.openai.com/v1/'),
  place('alike', 'openai', 'https://eu.api.openai.com.example.org/v1'),
  place('frankfurt', 'vertex', '', { location: 'europe-west4' }),
  place('worldwide', 'vertex', '', { location: 'global' }),
]
const shipped = { source: 'shipped', version: '2026-01-01' } as const
const table = [
  fillPrice({
    ...{
      model: 'gpt',
      vendor: 'openai',
      ...shipped,
      input: 2,
      output: 0.005,
      per_search: 0.01,
      geo: { regional: 1.1 },
    },
    batch: { input: 1, long_context: { input: 2 } },
    long_context: { over: 272_000, input: 4 },
  }),
  fillPrice({ model: 'older', vendor: 'openai', ...shipped, input: 2 }),
  fillPrice({ model: 'gpt', vendor: 'vertex', ...shipped, input: 3, geo: { regional: 1.1 } }),
]

async function bookOf(set: { providerId: string | null; model: string; input: number }[] = []) {
  const list = set.map(({ providerId, ...rates }) => ({
    providerId,
    price: fillPrice({ ...rates, source: 'set', version: 'v' }),
  }))
  return new PriceBook(await listPrices({ table: async () => table, list: async () => list }, providers))
}

const vendors: Record<string, string> = { frankfurt: 'vertex', worldwide: 'vertex' }
const find = (book: PriceBook, provider: string, model = 'gpt') =>
  book.find({ provider, vendor: vendors[provider] ?? 'openai', model })

describe('what a region costs more', () => {
  it.each([
    ['plain', 2],
    ['eu', 2.2],
    ['jp', 2.2],
    ['alike', 2],
    ['frankfurt', 3.3],
    ['worldwide', 3],
  ])('is in the prices of the provider %s', async (provider, input) => {
    expect(find(await bookOf(), provider)?.input).toBe(input)
  })

  it('is on each rate of a token, and on no other', async () => {
    expect(find(await bookOf(), 'eu')).toMatchObject({
      ...{ input: 2.2, output: 0.0055, per_search: 0.01, geo: null, version: '2026-01-01', source: 'shipped' },
      batch: { input: 1.1, long_context: { input: 2.2 } },
      long_context: { over: 272_000, input: 4.4 },
    })
    expect(find(await bookOf(), 'eu', 'older')?.input).toBe(2)
  })

  it('is not on a price that somebody has set', async () => {
    expect(find(await bookOf([{ providerId: null, model: 'gpt', input: 7 }]), 'eu')?.input).toBe(7)
    expect(find(await bookOf([{ providerId: 'prv_eu', model: 'gpt', input: 8 }]), 'eu')?.input).toBe(8)
  })

  it('is in no list twice, so that the list can be imported', async () => {
    const set = fillPrice({ model: 'gpt', source: 'set', version: 'v', input: 8 })
    const source = { table: async () => table, list: async () => [{ providerId: 'prv_eu', price: set }] }
    const listed = await listPrices(source, providers)
    expect(listed.filter(({ provider }) => provider === 'eu')).toMatchObject([{ input: 8 }])
    expect(listed.filter(({ provider }) => provider === 'jp')).toMatchObject([{ input: 2.2 }])
  })
})
