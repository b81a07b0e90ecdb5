import { type ModelPrice, priceVariants, type TokenRates, tokenRateNames } from '../../core/model-price.ts'

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
  const taken = new Set(set.filter(({ provider }) => provider === null).map(({ model }) => model))
  return providers.flatMap((provider) => {
    const vendor = regionalVendor(provider)
    if (vendor === null) return []
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

/** The same with each rate of a token so many times as high. */
export function timesEach<Rates extends Partial<TokenRates>>(rates: Rates, times: number): Rates {
  const all = { ...rates }
  for (const name of tokenRateNames) {
    const rate = rates[name]
    // Without what binary fractions add.
    if (rate !== null && rate !== undefined) all[name] = Number((rate * times).toPrecision(12))
  }
  return all
}
