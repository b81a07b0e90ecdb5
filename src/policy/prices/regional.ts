import { type ModelPrice, priceVariants } from '../../core/cost/model-price.ts'
import { timesEach } from './cost.ts'

/** A provider as far as it decides where its requests are processed. */
export interface PlacedProvider {
  id: string
  name: string
  kind: string
  revision: { baseUrl: string; settings: Readonly<Record<string, unknown>> }
}

/** The name under which a price has the factor of such places. */
const regional = 'regional'
const openaiHost = /^[a-z]{2}\.api\.openai\.com$/

/**
 * Prices of its own for each provider that processes in a region, where that costs more: OpenAI's hosts of regions, and Vertex anywhere
 * but `global`. One that an operator has set for a model goes before, as it does elsewhere. Source: the vendors' pages of prices.
 */
export function regionalPrices(
  table: readonly ModelPrice[],
  providers: readonly PlacedProvider[],
  set: readonly ModelPrice[],
): ModelPrice[] {
  return providers.flatMap((provider) => {
    const vendor = regionalVendor(provider)
    if (vendor === null) return []
    const own = set.filter((price) => price.provider === null || price.provider === provider.name)
    const taken = new Set(own.map(({ model }) => model))
    return table.flatMap((price) => {
      const times = price.geo?.[regional]
      if (times === undefined || price.vendor !== vendor || taken.has(price.model)) return []
      return { ...timesPrice(price, times), vendor: null, provider: provider.name }
    })
  })
}

function regionalVendor({ kind, revision: { baseUrl, settings } }: PlacedProvider): string | null {
  if (kind === 'vertex') return settings.location === 'global' ? null : kind
  return openaiHost.test(URL.parse(baseUrl)?.hostname ?? '') ? 'openai' : null
}

function timesPrice(price: ModelPrice, times: number): ModelPrice {
  const all = { ...price, ...timesEach(price, times), geo: null }
  if (price.long_context !== null) all.long_context = timesEach(price.long_context, times)
  for (const name of priceVariants) {
    const variant = price[name]
    if (variant === null) continue
    const { long_context: long } = variant
    all[name] = {
      ...timesEach(variant, times),
      ...(long === undefined ? {} : { long_context: timesEach(long, times) }),
    }
  }
  return all
}
