import { fillPrice, type ModelPrice } from '../../core/cost/model-price.ts'
import type { PlacedProvider } from './regional.ts'

/** Where prices are stored. */
interface PriceSource {
  /** The table that replaced the shipped one; null: none did. */
  table(): Promise<ModelPrice[] | null>
  list(): Promise<{ providerId: string | null; price: ModelPrice }[]>
}

interface PriceTable {
  version: string
  prices: (Partial<ModelPrice> & Pick<ModelPrice, 'model'>)[]
}

/**
 * Every price in effect: the shipped table or its replacement, with what it costs in regions, then those that operators set. A provider's
 * own prices have its name.
 */
export async function listPrices(source: PriceSource, providers: readonly PlacedProvider[]): Promise<ModelPrice[]> {
  const table = (await source.table()) ?? (await loadShippedPrices())
  const names = new Map(providers.map(({ id, name }) => [id, name]))
  const own = (await source.list()).flatMap(({ providerId, price }) => {
    const provider = providerId === null ? null : names.get(providerId)
    return provider === undefined ? [] : [{ ...price, provider }]
  })
  // Prices stored by an older version lack newer members.
  const filled = table.map(fillPrice)
  const set = own.map(fillPrice)
  if (!providers.some(mayBeRegional)) return [...filled, ...set]
  const { regionalPrices } = await import('./regional.ts')
  return [...filled, ...regionalPrices(filled, providers, set), ...set]
}

const mayBeRegional = ({ kind, revision: { baseUrl } }: PlacedProvider) =>
  kind === 'vertex' || baseUrl.includes('.api.openai.com')

/** Loaded on demand: 270 kB that only the main thread needs, once. */
async function loadShippedPrices(): Promise<ModelPrice[]> {
  const { default: table }: { default: PriceTable } = await import('./table.json', { with: { type: 'json' } })
  const { version, prices } = table
  return prices.map((price) => fillPrice({ ...price, source: 'shipped', version }))
}
