import type { AdminClient } from '../../../../admin/client-link.ts'
import { valueAt } from '../../../../admin/contract/show-value.ts'
import { ratePaths } from '../../../../core/cost/rate-paths.ts'

export type Price = Awaited<ReturnType<AdminClient['prices']['show']>>

/** The fields of `prices set` that would write this price: setting a price writes the whole of it. */
export function fieldsOfPrice(price: Price): Record<string, unknown> {
  const rates = Object.entries(ratePaths).map(([field, path]) => [field, valueAt(price, path.join('.'))])
  const fields = {
    ...{ model: price.model, provider: price.provider },
    ...{ maxInput: price.max_input, maxOutput: price.max_output },
    ...Object.fromEntries(rates),
    longContextOver: price.long_context?.over,
    geo: price.geo && Object.entries(price.geo).map(([place, times]) => `${place}=${times}`),
    perImage: price.per_image && Object.entries(price.per_image).map(([size, usd]) => `${size}=${usd}`),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))
}

/** What is known of it, without what it does not have. */
export function ratesOfPrice(price: Price): Record<string, unknown> {
  return Object.fromEntries(Object.entries(price).filter(([, value]) => value !== null))
}
