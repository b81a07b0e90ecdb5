import { priceVariants, tokenRateNames, unitRateNames } from './model-price.ts'

const fieldOf = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/**
 * By the field of `prices set`, the way to the rate in a price: `batchInput` → ['batch', 'input'], `batchLongContextInput` → ['batch',
 * 'long_context', 'input'].
 */
export const ratePaths: Readonly<Record<string, readonly string[]>> = Object.fromEntries([
  ...tokenRateNames.map((name) => [fieldOf(name), [name]]),
  ...[...priceVariants, 'long_context'].flatMap((part) =>
    tokenRateNames.map((name) => [fieldOf(`${part}_${name}`), [part, name]]),
  ),
  ...priceVariants.flatMap((part) =>
    tokenRateNames.map((name) => [fieldOf(`${part}_long_context_${name}`), [part, 'long_context', name]]),
  ),
  ...unitRateNames.map((name) => [fieldOf(name), [name]]),
])
