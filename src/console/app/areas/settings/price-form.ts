import type { AdminClient } from '../../../../admin/client-link.ts'
import { priceVariants, tokenRateNames, unitRateNames } from '../../../../core/model-price.ts'

export type Price = Awaited<ReturnType<AdminClient['prices']['show']>>

/** The fields of `prices set` that would write this price: setting a price writes the whole of it. */
export function fieldsOfPrice(price: Price): Record<string, unknown> {
  const fields: Record<string, unknown> = { model: price.model }
  const put = (name: string, value: unknown) => {
    if (value !== null && value !== undefined) fields[camel(name)] = value
  }
  put('provider', price.provider)
  for (const name of [...tokenRateNames, ...unitRateNames]) put(name, price[name])
  for (const variant of priceVariants)
    for (const name of tokenRateNames) put(`${variant}_${name}`, price[variant]?.[name])
  for (const name of tokenRateNames) put(`long_context_${name}`, price.long_context?.[name])
  put('long_context_over', price.long_context?.over)
  put('max_output', price.max_output)
  put('per_image', price.per_image && Object.entries(price.per_image).map(([size, usd]) => `${size}=${usd}`))
  return fields
}

function camel(name: string): string {
  return name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

/** What is known of it, without what it does not have. */
export function ratesOfPrice(price: Price): Record<string, unknown> {
  return Object.fromEntries(Object.entries(price).filter(([, value]) => value !== null))
}
