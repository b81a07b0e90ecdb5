/** What a token of each kind costs, in USD per million. Null: not priced apart (contract.md, "Prices", says what is taken instead). */
export const tokenRateNames = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
  'audio_cache_read',
  'image_input',
  'image_output',
  'image_cache_read',
  'video_input',
] as const
export type TokenRateName = (typeof tokenRateNames)[number]
export type TokenRates = Record<TokenRateName, number | null>

/** What is not counted in tokens, in USD per unit. A character is a Unicode code point. */
export const unitRateNames = ['per_character', 'per_second', 'per_search', 'per_file_search', 'per_container'] as const
export type UnitRateName = (typeof unitRateNames)[number]

/** The ways in which a provider sells the same model at another rate. `long_context`: the rates above its `over`, where they differ. */
export const priceVariants = ['batch', 'flex', 'priority', 'fast', 'ultrafast'] as const
export type PriceVariant = (typeof priceVariants)[number]
export type VariantRates = Partial<TokenRates> & { long_context?: Partial<TokenRates> }

/**
 * The price of one model, as `prices show --json` prints it. It belongs to one provider of this gateway (`provider`), to
 * what a vendor sells under that name (`vendor`), or to the name wherever it is served (both null).
 */
export interface ModelPrice extends TokenRates, Record<UnitRateName, number | null> {
  model: string
  vendor: string | null
  provider: string | null
  source: 'shipped' | 'set' | 'imported'
  /** The date of the shipped table, or the time of the change. On every record that it priced. */
  version: string
  /** By `SIZE`, `SIZE/QUALITY`, or `*` for every image; USD for one. */
  per_image: Record<string, number> | null
  batch: VariantRates | null
  flex: VariantRates | null
  priority: VariantRates | null
  fast: VariantRates | null
  ultrafast: VariantRates | null
  /**
   * What all tokens cost more by, where the answer says that they were processed there: `{us: 1.1}`. `regional`: at hosts of a region
   * (`regional.ts`).
   */
  geo: Record<string, number> | null
  /** Holds for every token of a request whose whole input is above `over` tokens. */
  long_context: ({ over: number } & Partial<TokenRates>) | null
  /** The most tokens that the model reads, and that it writes. */
  max_input: number | null
  max_output: number | null
}

/** The rates of a price, everything that is not said being null. */
export function fillPrice(given: Partial<ModelPrice> & Pick<ModelPrice, 'model' | 'source' | 'version'>): ModelPrice {
  return { ...blank, ...given }
}

const blank: Omit<ModelPrice, 'model' | 'source' | 'version'> = {
  vendor: null,
  provider: null,
  input: null,
  output: null,
  cache_read: null,
  cache_write: null,
  cache_write_1h: null,
  reasoning: null,
  audio_input: null,
  audio_output: null,
  audio_cache_read: null,
  image_input: null,
  image_output: null,
  image_cache_read: null,
  video_input: null,
  per_character: null,
  per_second: null,
  per_search: null,
  per_file_search: null,
  per_container: null,
  per_image: null,
  batch: null,
  flex: null,
  priority: null,
  fast: null,
  ultrafast: null,
  geo: null,
  long_context: null,
  max_input: null,
  max_output: null,
}
