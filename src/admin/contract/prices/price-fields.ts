import { z } from 'zod'
import {
  type PriceVariant,
  type TokenRateName,
  tokenRateNames,
  type UnitRateName,
  unitRateNames,
} from '../../../core/cost/model-price.ts'
import { ratePaths } from '../../../core/cost/rate-paths.ts'
import { groupDigits } from '../../../core/units.ts'
import { field } from '../operation.ts'

/** USD. More than this per million is a mistake by a factor of a million, unless `--force` says otherwise. */
export const highestRate = 10_000

const rate = z.number().nonnegative()
const tokenRates = Object.fromEntries(tokenRateNames.map((name) => [name, rate.nullable()])) as Record<
  TokenRateName,
  z.ZodNullable<z.ZodNumber>
>
const geoFactor = z.number().min(0.1).max(10)
const someRates = z.object(tokenRates).partial()
const variant = someRates.extend({ long_context: someRates.optional() }).nullable()
const unitRates = Object.fromEntries(unitRateNames.map((name) => [name, rate.nullable()])) as Record<
  UnitRateName,
  z.ZodNullable<z.ZodNumber>
>

/** `ModelPrice`. */
export const priceShape = z.object({
  model: z.string().min(1),
  vendor: z.string().nullable(),
  provider: z.string().nullable(),
  source: z.enum(['shipped', 'set', 'imported']),
  version: z.string(),
  ...tokenRates,
  ...unitRates,
  per_image: z.record(z.string(), rate).nullable(),
  batch: variant,
  flex: variant,
  priority: variant,
  fast: variant,
  ultrafast: variant,
  // As answers are read.
  geo: z.record(z.string().toLowerCase(), geoFactor).nullable(),
  long_context: someRates.extend({ over: z.number().int().nonnegative() }).nullable(),
  max_input: z.number().int().positive().nullable(),
  max_output: z.number().int().positive().nullable(),
})

/** A price in a file: what is not there is null. */
export const givenPrice = priceShape.partial().required({ model: true }).strict()

const titles: Record<TokenRateName, string> = {
  input: 'input tokens',
  output: 'output tokens',
  cache_read: 'input tokens read from the cache',
  cache_write: 'input tokens written to the cache',
  cache_write_1h: 'input tokens written to the cache for an hour',
  reasoning: 'reasoning tokens',
  audio_input: 'audio input tokens',
  audio_output: 'audio output tokens',
  audio_cache_read: 'audio input tokens read from the cache',
  image_input: 'image input tokens',
  image_output: 'image output tokens',
  image_cache_read: 'image input tokens read from the cache',
  video_input: 'video input tokens',
}
const units: Partial<Record<string, string>> & Record<UnitRateName, string> = {
  per_character: 'character',
  per_second: 'second of audio',
  per_search: 'web search',
  per_file_search: 'search in files of the provider',
  per_container: 'session of the code interpreter',
}
const variantTitles = {
  batch: 'in batches',
  flex: 'in the flex tier',
  priority: 'in the priority tier',
  fast: 'in fast mode',
  ultrafast: 'in the ultrafast tier',
} as const

function describeRate(path: readonly string[]): string {
  const [first = ''] = path
  const unit = units[first]
  if (unit !== undefined) return `USD per ${unit}`
  const title = titles[path.at(-1) as TokenRateName]
  const tier = first in variantTitles ? ` ${variantTitles[first as 'batch']}` : ''
  return `USD per million ${title}${tier}${path.includes('long_context') ? ' in long-context requests' : ''}`
}

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name
type RateField = Camel<
  TokenRateName | UnitRateName | `${PriceVariant | 'long_context' | `${PriceVariant}_long_context`}_${TokenRateName}`
>

const rates = Object.fromEntries(
  Object.entries(ratePaths).map(([name, path]) => [name, field(rate.optional(), { description: describeRate(path) })]),
) as Record<RateField, z.ZodOptional<z.ZodNumber>>

export const rateFields = {
  ...rates,
  longContextOver: field(z.number().int().positive().optional(), {
    description: 'Input tokens above which the long-context rates hold for the whole request',
  }),
  perImage: field(z.array(z.string().min(1)).optional(), {
    description: 'USD per image: USD, or SIZE[/QUALITY]=USD',
  }),
  geo: field(z.array(z.string().min(1)).optional(), {
    description: 'Factor on the rates of tokens where the answer says that it was processed there: us=1.1',
  }),
  maxInput: field(z.number().int().positive().optional(), { description: 'The most tokens that the model reads' }),
  maxOutput: field(z.number().int().positive().optional(), { description: 'The most tokens that the model writes' }),
  force: field(z.boolean().default(false), {
    description: `Accept a rate above $${groupDigits(highestRate)} per million`,
  }),
}
