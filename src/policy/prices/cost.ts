import {
  type ModelPrice,
  type PriceVariant,
  type TokenRateName,
  type TokenRates,
  tokenRateNames,
} from '../../core/cost/model-price.ts'
import { nanoOfPico, picoPerToken, picoPerUnit } from '../../core/cost/money.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { flatText } from '../../core/text/flat-text.ts'

/** The usage of a call, as its record states it. */
export interface PricedUsage {
  tokens: TokenUsage | null
  detail: UsageDetail | null
}

/**
 * The cost of a call in nano-dollars; null: the price has no rate for what it used. The total input decides about long-context rates, which
 * then apply to every token of the call (contract.md, "Prices").
 */
export function costOf({ tokens, detail }: PricedUsage, price: ModelPrice): bigint | null {
  const counted = tokenCost(tokens, detail, price)
  if (detail === null) return counted === null ? null : nanoOfPico(counted)
  const parts = [counted, ...unitCosts(detail, price)].filter((part) => part !== null)
  return parts.length === 0 ? null : nanoOfPico(parts.reduce((sum, part) => sum + part, 0n))
}

/**
 * In pico-dollars. Every token is in exactly one bucket: cached, written, audio and image tokens are part of `input`, reasoning is part of
 * `output`. Avoids a list of buckets, since every request comes here, and those under budgets several times.
 */
function tokenCost(tokens: TokenUsage | null, detail: UsageDetail | null, price: ModelPrice): bigint | null {
  if (tokens === null || (price.input === null && price.output === null)) return null
  const rate = rateReader(price, detail, tokens.input)
  const {
    audio_input,
    audio_output,
    audio_cached,
    image_input,
    image_output,
    image_cached,
    video_input,
    cache_write_1h,
  } = detail ?? noDetail
  // A part never counts for more than the rest of the whole, whatever a provider reports.
  const audioCached = Math.min(audio_cached ?? 0, tokens.cache_read)
  const imageCached = Math.min(image_cached ?? 0, tokens.cache_read - audioCached)
  const longWrite = Math.min(cache_write_1h ?? 0, tokens.cache_write)
  let input = Math.max(0, tokens.input - tokens.cache_read - tokens.cache_write)
  const audioInput = Math.min(Math.max(0, (audio_input ?? 0) - audioCached), input)
  const imageInput = Math.min(Math.max(0, (image_input ?? 0) - imageCached), input - audioInput)
  const videoInput = Math.min(video_input ?? 0, input - audioInput - imageInput)
  input -= audioInput + imageInput + videoInput
  let output = Math.max(0, tokens.output - tokens.reasoning)
  const audioOutput = Math.min(audio_output ?? 0, output)
  const imageOutput = Math.min(image_output ?? 0, output - audioOutput)
  output -= audioOutput + imageOutput
  let sum = 0n
  const add = (name: TokenRateName, count: number) => {
    if (count !== 0) sum += BigInt(count) * rate(name)
  }
  add('input', input)
  add('cache_read', tokens.cache_read - audioCached - imageCached)
  add('audio_cache_read', audioCached)
  add('image_cache_read', imageCached)
  add('cache_write', tokens.cache_write - longWrite)
  add('cache_write_1h', longWrite)
  add('audio_input', audioInput)
  add('image_input', imageInput)
  add('video_input', videoInput)
  add('output', output)
  add('reasoning', tokens.reasoning)
  add('audio_output', audioOutput)
  add('image_output', imageOutput)
  const times = geoFactor(price, detail?.geo ?? null)
  return times === null ? sum : (sum * BigInt(Math.round(times * 1e6)) + 999_999n) / 1_000_000n
}

/** What all tokens cost more by, processed there. Null: nothing. */
export function geoFactor({ geo }: ModelPrice, at: string | null): number | null {
  return geo === null || at === null || !Object.hasOwn(geo, at) ? null : (geo[at] ?? null)
}

const noDetail: Partial<UsageDetail> = {}

/** The same with each rate of a token so many times as high, without what binary fractions add. */
export function timesEach<Rates extends Partial<TokenRates>>(rates: Rates, times: number): Rates {
  const all = { ...rates }
  for (const name of tokenRateNames) {
    const rate = rates[name]
    if (rate !== null && rate !== undefined) all[name] = Number((rate * times).toPrecision(12))
  }
  return all
}

/** The rate that is used if a price does not have this one. */
const insteadOf: Record<TokenRateName, TokenRateName | null> = {
  input: null,
  output: null,
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  reasoning: 'output',
  audio_input: 'input',
  audio_output: 'output',
  audio_cache_read: 'cache_read',
  image_input: 'input',
  image_output: 'output',
  image_cache_read: 'cache_read',
  video_input: 'image_input',
}

/**
 * Returns a function for the rate of a bucket: from the most specific table that has it (tier and long context, long context, tier, base),
 * else the substitute bucket's rate, found the same way.
 */
function rateReader(price: ModelPrice, detail: UsageDetail | null, input: number): (name: TokenRateName) => bigint {
  const variant = detail === null ? null : detail.batch === true ? 'batch' : variantOf(price, detail.tier)
  const tier = variant === null ? null : price[variant]
  const isLong = price.long_context !== null && input > price.long_context.over
  const tables: (Partial<TokenRates> | null | undefined)[] = isLong
    ? [tier?.long_context, price.long_context, tier, price]
    : [tier, price]
  return (name) => {
    for (let wanted: TokenRateName | null = name; wanted !== null; wanted = insteadOf[wanted]) {
      for (const table of tables) {
        const rate = table?.[wanted]
        if (rate !== null && rate !== undefined) return picoPerToken(rate)
      }
    }
    return 0n
  }
}

/**
 * The rates of a tier, as an answer or a request names it; an unknown tier has the base rates. OpenAI calls its priority tier fast, too;
 * Anthropic's fast mode and its priority tier are two things.
 */
export function variantOf(price: ModelPrice, named: string | null): PriceVariant | null {
  const tier = named?.toLowerCase()
  if (tier === 'ultrafast' && price.ultrafast !== null) return tier
  if (tier === 'fast' || tier === 'ultrafast') return price.fast === null ? 'priority' : 'fast'
  return tier === 'flex' || tier === 'priority' || tier === 'batch' ? tier : null
}

/** Why the cost of a call whose model has a price is not whole, or why it has none; null: it is whole. */
export function unpricedText(
  model: string,
  price: ModelPrice,
  { detail, cost }: Pick<PricedUsage, 'detail'> & { cost: unknown },
): string | null {
  if (cost === null)
    return flatText('The price of ', model, ' has no rate for what this request used, so it has no cost.')
  const left = unpricedParts(detail, price)
  return left === null
    ? null
    : flatText('The price of ', model, ' has no rate for ', left, ': its cost is without that.')
}

/** What a call used besides tokens that the price has no rate for, in words; null: nothing. */
function unpricedParts(detail: UsageDetail | null, price: ModelPrice): string | null {
  if (detail === null) return null
  let parts: string | null = null
  for (const [used, rate, name] of callRates)
    if ((detail[used] ?? 0) > 0 && price[rate] === null)
      parts = `${parts === null ? '' : `${parts}, `}${name} (${detail[used]})`
  return parts
}

const callRates = [
  ['searches', 'per_search', 'searches'],
  ['file_searches', 'per_file_search', 'searches in files'],
  ['containers', 'per_container', 'sessions of the code interpreter'],
] as const

/** In pico-dollars; empty if nothing of the kind was used, or none has a price. */
function unitCosts(detail: UsageDetail | null, price: ModelPrice): bigint[] {
  if (detail === null) return []
  const { characters, seconds, searches, images } = detail
  const perImage = images === null ? null : imageRate(price, detail.image_size)
  return [
    unitCost(characters, price.per_character),
    unitCost(searches, price.per_search),
    unitCost(detail.file_searches, price.per_file_search),
    unitCost(detail.containers, price.per_container),
    unitCost(images, perImage),
    // Fractions of a second are charged in thousandths.
    seconds === null || price.per_second === null
      ? null
      : (BigInt(Math.ceil(seconds * 1000)) * picoPerUnit(price.per_second)) / 1000n,
  ].filter((part) => part !== null)
}

/**
 * The rate by size and quality, by size alone, or for any image. What is left to the provider is charged at the highest rate possible. The
 * client chooses the size, so it may be any text.
 */
function imageRate({ per_image }: ModelPrice, asked: string | null): number | null {
  const rates = new Map(Object.entries(per_image ?? {}))
  const [size = ''] = (asked ?? '').split('/')
  const known = rates.get(asked ?? '') ?? rates.get(size) ?? rates.get('*')
  return known ?? (rates.size === 0 ? null : Math.max(...rates.values()))
}

function unitCost(count: number | null, usd: number | null): bigint | null {
  return count === null || usd === null ? null : BigInt(Math.ceil(count)) * picoPerUnit(usd)
}
