import type { ModelPrice } from '../../core/cost/model-price.ts'
import { flatText } from '../../core/text/flat-text.ts'

/** Where a call went: a provider of this gateway, and the vendor behind it; null: unknown. */
export interface PricedTarget {
  provider: string
  vendor: string | null
  model: string
}

/**
 * Finds the price of a call. Models are matched by name alone: the exact name first, then without the vendors' prefixes and suffixes, never
 * by prefix (contract.md, "Prices"). For each name, a provider's own price wins, then one that an operator set for the model, then the
 * vendor's.
 */
export class PriceBook {
  readonly #prices: ReadonlyMap<string, ModelPrice>
  /** Results by query, so that simpler names are tried once for each model, not for each request. */
  readonly #found = new Map<string, ModelPrice | null>()

  /** Of several prices with the same identity the last one wins. */
  constructor(prices: readonly ModelPrice[]) {
    this.#prices = new Map(prices.map((price) => [identity(price), price]))
  }

  find(target: PricedTarget): ModelPrice | null {
    const asked = identity(target)
    const known = this.#found.get(asked)
    if (known !== undefined) return known
    // A pattern passes on names that clients choose.
    if (this.#found.size >= mostFound) this.#found.clear()
    const found = this.#search(target)
    this.#found.set(asked, found)
    return found
  }

  #search({ provider, vendor, model }: PricedTarget): ModelPrice | null {
    for (const name of namesOf(model)) {
      const places = [{ provider, vendor: null }, { provider: null, vendor: null }, ...vendorsOf(vendor)]
      for (const place of places) {
        const found = this.#prices.get(identity({ ...place, model: name }))
        if (found !== undefined) return found
      }
    }
    return null
  }
}

const mostFound = 10_000

/** Two prices with the same identity price the same thing. */
export function identity({ provider, vendor, model }: Pick<ModelPrice, 'provider' | 'vendor' | 'model'>): string {
  return `${provider ?? ''}\n${vendor ?? ''}\n${model}`
}

/** What the record of a request says whose model has no price. */
export function noPriceText(model: string): string {
  return flatText('The model ', model, ' has no price, so this request has no cost.')
}

/** Makers that sell their own models. Their price stands for a model if it is unknown who serves it. */
const makers = ['openai', 'anthropic', 'gemini', 'mistral', 'deepseek', 'xai', 'moonshot', 'perplexity']

/** Clouds that sell other makers' models at the makers' prices, unless they have their own. */
const makersBehind: Record<string, readonly string[]> = {
  'azure-openai': ['openai'],
  bedrock: ['anthropic'],
  vertex: ['gemini', 'anthropic'],
}

function vendorsOf(vendor: string | null): { provider: null; vendor: string }[] {
  const vendors = vendor === null ? makers : [vendor, ...(makersBehind[vendor] ?? [])]
  return vendors.map((name) => ({ provider: null, vendor: name }))
}

/** A name as written, then simpler forms, in the order in which they are looked up. */
export function namesOf(model: string): string[] {
  const local = model.replace(/^(?:us|eu|apac|au|jp|ca|global)\./, '')
  const bare = local.replace(/^anthropic\./, '')
  return [...new Set([model, local, bare].flatMap((name) => [name, ...withoutEnding(name)]))]
}

/** Without `@version` and `-v1:0`, then without a date. */
function withoutEnding(name: string): string[] {
  const unversioned = name.replace(/@[^@]*$/, '').replace(/-v\d{1,3}(?::\d{1,3})?$/, '')
  const undated = unversioned.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8})$/, '')
  return [unversioned, undated]
}
