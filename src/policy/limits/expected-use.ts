import type { AskedTools, CacheWrites } from '../../core/cost/asked-tools.ts'
import { cacheMarks, cacheWritesOf } from '../../core/cost/cache-marks.ts'
import { estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import type { ModelPrice, TokenRates } from '../../core/cost/model-price.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { scanObject, shortValue } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import { blankUsageDetail, type UsageDetail } from '../../core/record.ts'
import { costOf, geoFactor, timesEach, variantOf } from '../prices/cost.ts'
import type { BudgetNeed } from './budget-counters.ts'
import type { LongestAnswer } from './budget-faults.ts'

/** What a target may use for a call: its price, and its output tokens. */
export interface Expected {
  /** null: the target is free. */
  price: ModelPrice | null
  input: number
  output: number
  /** The client set no limit and the answer streams, so `output` grows with the stream. */
  grows: boolean
  /** What it asks for that is not paid by the token, or not at the rates of text. Absent or null: nothing. */
  units?: UsageDetail | null
  /** What tools of the provider may use besides. Absent: nothing. */
  beside?: BudgetNeed | undefined
}

/** Output tokens that a stream without a limit holds at a time. The first hold may shrink to what fits. */
export const increment = 1024
export const smallestIncrement = 64

/** How long an answer may get at the target; null: unknown. */
export function expectAnswer(
  price: ModelPrice | null,
  isFree: boolean,
  { outputLimit: asked, streamed, answers }: { outputLimit: number | null; streamed: boolean; answers: number },
): Pick<Expected, 'output' | 'grows'> | null {
  // The model's maximum applies to each answer.
  const longest = price?.max_output ?? null
  const most = longest === null ? null : longest * answers
  if (asked !== null) return { output: most === null ? asked : Math.min(asked, most), grows: false }
  if (streamed) return { output: Math.min(increment, most ?? increment), grows: true }
  if (most === null && !isFree) return null
  return { output: most ?? increment, grows: false }
}

/** Tokens of an image by the quality that is asked for, of its largest size. Source: the vendor's guide to image generation. */
const imageTokens: Readonly<Record<string, number>> = { low: 408, medium: 1584 }
const mostImageTokens = 6240

/** Tokens of sound that a character takes, by models of speech that are paid by the token: 1.3 where it was measured. */
const soundTokens = 1.5

/** Of an answer without a length that anybody could limit: images, sound, vectors. Images and speech paid by the token have some. */
export function expectMedia(
  price: ModelPrice | null,
  units: UsageDetail | null,
): Pick<Expected, 'output' | 'grows' | 'units'> {
  const characters = price?.per_character == null ? (units?.characters ?? null) : null
  if (units !== null && characters !== null && (price?.audio_output ?? price?.output ?? 0) > 0) {
    const output = Math.ceil(characters * soundTokens)
    return { output, grows: false, units: { ...units, audio_output: output } }
  }
  const perToken = price === null || price.per_image !== null ? null : (price.image_output ?? price.output)
  if (units === null || units.images === null || !perToken) return { output: 0, grows: false, units }
  const [, quality = ''] = (units.image_size ?? '').split('/')
  const output = units.images * (imageTokens[quality] ?? mostImageTokens)
  return { output, grows: false, units: { ...units, image_output: output } }
}

/** At least one unit, so that a budget that is used up lets nothing pass whose use nobody can tell. */
export function needOf(
  { price, input, units = null, beside }: Pick<Expected, 'price' | 'input' | 'units' | 'beside'>,
  output: number,
): BudgetNeed {
  const usd = price === null ? 0n : holdOf(price, input, output, units) || 1n
  const tokens = Math.max(1, input + output)
  return beside === undefined ? { usd, tokens } : { usd: usd + beside.usd, tokens: tokens + beside.tokens }
}

export function holdOf(price: ModelPrice, input: number, output: number, units: UsageDetail | null = null): bigint {
  return costOf({ tokens: estimatedTokens(input, output), detail: units }, price) ?? 0n
}

/** Models that search for every answer, without a tool: OpenAI's, and Perplexity's. */
const searchModel = /-search-(?:preview|api)(?:-|$)|^(?:perplexity\/)?sonar(?:-|$)/

/** Tokens of the largest image that a model makes in its answer, as Gemini's do. */
const answeredImage = 2000

/** What that costs above as many tokens of text. */
function imageInAnswer(price: ModelPrice, batch: true | null): bigint {
  const { output, image_output, per_image } = price
  if (output === null || image_output === null || image_output <= output || per_image !== null) return 0n
  const units = { ...blankUsageDetail, batch }
  const drawn = holdOf(price, 0, answeredImage, { ...units, image_output: answeredImage })
  return drawn - holdOf(price, 0, answeredImage, units)
}

/** Tokens of the text that a model writes for the one that makes its image. */
const drawnFrom = 256

/**
 * What tools of the provider, and models that search or draw by themselves, may use besides the model's tokens. Undefined: nothing that has a
 * price. `priceOf`: of a model that makes images, by its name in the request. `batch`: at the rates of batches. `answers`: how many there may be.
 */
export function expectTools(
  asked: AskedTools | null,
  price: ModelPrice | null,
  priceOf: (imageModel: string | null) => ModelPrice | null,
  { batch = null, answers = 1 }: { batch?: true | null; answers?: number } = {},
): BudgetNeed | undefined {
  const always = price !== null && price.per_search !== null && searchModel.test(price.model) ? 1 : 0
  const image = price === null ? 0n : imageInAnswer(price, batch) * BigInt(answers)
  if (price === null || (asked === null && always === 0 && image === 0n)) return undefined
  const {
    searches = 0,
    fileSearches = 0,
    containers = 0,
    images = 0,
    imageModel = null,
    imageSize = null,
  } = asked ?? {}
  const detail = {
    ...blankUsageDetail,
    searches: Math.max(always, searches),
    file_searches: fileSearches,
    containers,
  }
  const need = { usd: image + (costOf({ tokens: null, detail }, price) ?? 0n), tokens: 0 }
  const drawn = images === 0 ? null : priceOf(imageModel)
  if (drawn !== null) {
    const { output, units } = expectMedia(drawn, { ...blankUsageDetail, images, image_size: imageSize, batch })
    const input = images * drawnFrom
    need.usd += holdOf(drawn, input, output, units)
    need.tokens += input + output
  }
  return need.usd === 0n ? undefined : need
}

/** What decides the rates of a request, as it asks: the answer says what it got. */
export interface AskedRates {
  tier: string | null
  geo: string | null
  /** Its prompt is written to the provider's cache; null or absent: no. */
  writes?: CacheWrites | null
  /** It may be answered in sound, which costs more than text. */
  sounds?: true
}

const rateMembers = ['service_tier', 'serviceTier', 'speed', 'inference_geo', 'fallbacks']
const fast = Buffer.from('"fast"')

const cacheMark = Buffer.from('"cache_control"')

/**
 * Null: the usual rates. A request for a cheaper tier may be served at these, too. `price`: the one that they are asked for; left out: any.
 */
export function askedRates(body: Buffer, price: ModelPrice | null = null): AskedRates | null {
  const asked: AskedRates = { tier: null, geo: null }
  if (price !== null && dearerInSound(price) && asksSound(body)) asked.sounds = true
  const plain = asked.sounds === true ? asked : null
  if (price !== null && !hasDearer(price)) return body.includes(cacheMark) ? withWrites(asked, body) : plain
  const watch = { names: cacheMarks, seen: false }
  const scan = scanObject(body, rateMembers, undefined, watch)
  for (const member of scan.ok ? scan.members : []) {
    // A model to fall back to has a speed of its own.
    const isFast = member.name === 'fallbacks' && body.subarray(member.start, member.end).includes(fast)
    const value = isFast ? 'fast' : readValue(body, member, shortValue)
    const text = typeof value === 'string' ? value.toLowerCase() : ''
    if (member.name === 'inference_geo') asked.geo = text
    else asked.tier = dearerTier(asked.tier, text)
  }
  if (watch.seen) return withWrites(asked, body)
  return asked.tier === null && asked.geo === null ? plain : asked
}

/** `modalities` of OpenAI, `responseModalities` of Gemini. */
const soundWords = ['odalities"', '"audio"', '"AUDIO"'].map((word) => Buffer.from(word))

function asksSound(body: Buffer): boolean {
  const [named, ...kinds] = soundWords.map((word) => body.includes(word))
  return named === true && kinds.includes(true)
}

const dearerInSound = ({ output, audio_output }: ModelPrice) => (audio_output ?? 0) > (output ?? 0)

/** With output at the rate of sound, where that is dearer. */
export function inSound(price: ModelPrice): ModelPrice {
  return dearerInSound(price) ? { ...price, output: price.audio_output } : price
}

const withWrites = (asked: AskedRates, body: Buffer) => ({ ...asked, writes: cacheWritesOf(body) })

/** Whether what a request asks for may make it dearer by these rates, but for what it writes to the cache. */
const hasDearer = (price: ModelPrice) => price.geo !== null || dearerTiers.some((name) => price[name] !== null)

/** The dearer of what two requests ask for. */
export function dearerRates(one: AskedRates | null, other: AskedRates | null): AskedRates | null {
  if (one === null || other === null) return one ?? other
  const writes = one.writes === 'long' ? one.writes : (other.writes ?? one.writes ?? null)
  return { tier: dearerTier(one.tier, other.tier), geo: one.geo ?? other.geo, writes }
}

const dearerTiers = ['priority', 'fast', 'ultrafast'] as const
const rank = (tier: string | null) => (dearerTiers as readonly (string | null)[]).indexOf(tier)
const dearerTier = (one: string | null, other: string | null) => (rank(other) > rank(one) ? other : one)

/** The price at the rates that a request asks for, to hold them. */
export function priceAsAsked(
  price: ModelPrice | null,
  asks: (price: ModelPrice) => AskedRates | null,
): ModelPrice | null {
  if (price === null) return price
  const { cache_write, cache_write_1h } = price
  if (!(hasDearer(price) || cache_write !== null || cache_write_1h !== null || dearerInSound(price))) return price
  const asked = asks(price)
  if (asked === null) return price
  const { tier, geo, writes = null, sounds = false } = asked
  const variant = tier === null ? null : variantOf(price, tier)
  const { long_context: long, ...rates } = (variant === null ? null : price[variant]) ?? {}
  const times = geoFactor(price, geo) ?? 1
  if (times === 1 && variant === null && writes === null && !sounds) return price
  const own = { ...price, ...rates }
  const all = sounds ? inSound(own) : own
  const over = price.long_context === null ? null : { ...price.long_context, ...long }
  if (over !== null) over.input = inputRate(writes, [over, all])
  all.input = inputRate(writes, [all])
  return { ...all, ...timesEach(all, times), long_context: over === null ? null : timesEach(over, times) }
}

/** What a token of input costs by the first table that says so: written to the cache, as all of it may be, or plain. */
function inputRate(writes: CacheWrites | null, tables: readonly Partial<TokenRates>[]): number | null {
  const rate = (name: 'input' | 'cache_write' | 'cache_write_1h') =>
    tables.map((table) => table[name] ?? null).find((one) => one !== null) ?? null
  const plain = rate('input')
  const written = writes === null ? null : ((writes === 'long' ? rate('cache_write_1h') : null) ?? rate('cache_write'))
  return written === null ? plain : Math.max(written, plain ?? 0)
}

/** `account`: the budget of the provider's own account. */
export function noPrice(model: string, account = false): Fault {
  const budget = account ? 'the budget of the account in USD' : 'a budget in USD'
  const message =
    model === '' && !account
      ? 'No model is named here, so a budget in USD cannot count it: name the model, or ask the operator to set a rate for it (--unpriced).'
      : `The model ${model} has no price, so ${budget} cannot count it; ask the operator to set one (spgw prices set).`
  return fault('policy_denied', message, { param: 'model' })
}

/** `where`: the place in the request where the client can set the limit, if it is not the top. */
export function unboundedAnswer(longest: LongestAnswer | null = null, where: string | null = null): Fault {
  const { name = 'max_tokens', most = null } = longest ?? {}
  const limit = most === null ? `set ${name}` : `set ${name} to at most ${most}`
  const how = where === null ? `${limit}, or stream the answer` : `${limit} in ${where}`
  const message = `A budget applies, and the longest answer of this model is not known, so its cost has no limit: ${how}.`
  return fault('policy_denied', message, { param: name })
}

/** Any of them may answer: if one cannot be counted, the call is rejected. */
export function dearestOf(each: readonly (Expected | Fault)[]): Expected | Fault {
  return each.reduce((one, other) => ('code' in one || (!('code' in other) && !isDearer(other, one)) ? one : other))
}

function isDearer(one: Expected, other: Expected): boolean {
  const [its, others] = [needOf(one, one.output), needOf(other, other.output)]
  return its.usd === others.usd ? its.tokens > others.tokens : its.usd > others.usd
}
