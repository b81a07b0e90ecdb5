import { fillPrice, type ModelPrice } from '../../core/model-price.ts'

/** Where prices are stored. */
interface PriceSource {
  /** What replaced the shipped table; null: nothing did. */
  table(): Promise<ModelPrice[] | null>
  list(): Promise<{ providerId: string | null; price: ModelPrice }[]>
}

interface PriceTable {
  version: string
  prices: (Partial<ModelPrice> & Pick<ModelPrice, 'model'>)[]
}

/** Every price that holds: the shipped table or what replaced it, then what operators set. A provider's own carry its name. */
export async function listPrices(
  source: PriceSource,
  providers: readonly { id: string; name: string }[],
): Promise<ModelPrice[]> {
  const table = (await source.table()) ?? (await loadShippedPrices())
  const names = new Map(providers.map(({ id, name }) => [id, name]))
  const own = (await source.list()).flatMap(({ providerId, price }) => {
    const provider = providerId === null ? null : names.get(providerId)
    return provider === undefined ? [] : [{ ...price, provider }]
  })
  // A price that an older gateway stored says nothing of what came later.
  return [...table, ...own].map(fillPrice)
}

/** Kept out of what a process loads at its start: 270 kB that only the main thread of a gateway needs, once. */
async function loadShippedPrices(): Promise<ModelPrice[]> {
  const { default: table }: { default: PriceTable } = await import('./table.json', { with: { type: 'json' } })
  const { version, prices } = table
  return prices.map((price) => fillPrice({ ...price, source: 'shipped', version }))
}
