import { type ModelPrice, priceVariants, tokenRateNames, unitRateNames } from '../../../core/cost/model-price.ts'
import { highestRate } from '../../contract/prices/price-fields.ts'
import { formatRate } from '../../contract/show-number.ts'
import { invalid } from '../fault.ts'

/** Amounts are counted in whole pico-dollars a token or unit: less would count as nothing, and more than this is no price. */
const bounds = {
  token: { least: 1e-6, most: 1e8, unit: ' per million tokens' },
  unit: { least: 1e-12, most: 10_000, unit: '' },
} as const
/** A client names no longer one. */
const longestName = 512

/** What is mistyped by a factor of a million, or is too small or large to be counted. */
export function checkRates(price: ModelPrice, force: boolean): void {
  if (price.model.length > longestName)
    throw invalid(
      `The name ${price.model.slice(0, 40)}… is too long.`,
      `A model has at most ${longestName} characters.`,
    )
  for (const [name, rate] of tokenRates(price)) {
    checkBounds(price, { name, rate }, bounds.token)
    if (rate > highestRate && !force)
      throw invalid(
        `${name} of ${price.model} is ${formatRate(rate)} per million tokens.`,
        'Rates are per million tokens, not per token. Add --force to `prices set` if it is meant.',
      )
  }
  for (const [name, rate] of unitRates(price)) checkBounds(price, { name, rate }, bounds.unit)
}

type Rate = [name: string, rate: number]

const present = (rates: (readonly [string, number | null | undefined])[]): Rate[] =>
  rates.flatMap(([name, rate]): Rate[] => (rate === null || rate === undefined ? [] : [[name, rate]]))

function tokenRates(price: ModelPrice): Rate[] {
  const variants = priceVariants.map((name) => [`${name} `, price[name]] as const)
  const tables = [
    ['', price] as const,
    ['long-context ', price.long_context] as const,
    ...variants,
    ...variants.map(([name, variant]) => [`${name}long-context `, variant?.long_context] as const),
  ]
  return present(
    tables.flatMap(([at, table]) => tokenRateNames.map((name) => [`${at}${name}`, table?.[name]] as const)),
  )
}

function unitRates(price: ModelPrice): Rate[] {
  const images = Object.entries(price.per_image ?? {}).map(([size, rate]) => [`per_image ${size}`, rate] as const)
  return present([...unitRateNames.map((name) => [name, price[name]] as const), ...images])
}

interface Bounds {
  least: number
  most: number
  unit: string
}

function checkBounds({ model }: ModelPrice, { name, rate }: { name: string; rate: number }, bound: Bounds): void {
  if (rate > bound.most)
    throw invalid(`${name} of ${model} is more than ${formatRate(bound.most)}${bound.unit}.`, 'No model costs so much.')
  if (rate > 0 && rate < bound.least)
    throw invalid(
      `${name} of ${model} is less than ${formatRate(bound.least)}${bound.unit}, which would be counted as nothing.`,
      'Set 0 if it costs nothing.',
    )
}

/** Without one, a price would make what it is for free. */
export function hasRate(price: Partial<ModelPrice>): boolean {
  const tables = [price, price.long_context, ...priceVariants.map((name) => price[name])]
  const isSet = (rate: number | null | undefined) => rate !== null && rate !== undefined
  return (
    tables.some((table) => tokenRateNames.some((name) => isSet(table?.[name]))) ||
    unitRateNames.some((name) => isSet(price[name])) ||
    Object.keys(price.per_image ?? {}).length > 0
  )
}
