import {
  fillPrice,
  type ModelPrice,
  priceVariants,
  type TokenRateName,
  type TokenRates,
  tokenRateNames,
  type VariantRates,
} from '../../../core/cost/model-price.ts'
import { asObject, type JsonObject } from '../../../core/json/json-value.ts'
import { identity } from '../../../policy/prices/find-price.ts'
import { presets } from '../../../providers/presets.ts'

/** An entry of LiteLLM's `model_prices_and_context_window.json`: costs a unit, in USD. */
type LitellmEntry = JsonObject

/** LiteLLM's providers of the kinds that have no presets → the vendor as this gateway names it. */
const kindVendors: Record<string, string> = {
  openai: 'openai',
  'text-completion-openai': 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  'vertex_ai-language-models': 'vertex',
  'vertex_ai-anthropic_models': 'vertex',
  'vertex_ai-embedding-models': 'vertex',
  vertex_ai: 'vertex',
  azure: 'azure-openai',
  bedrock: 'bedrock',
  bedrock_converse: 'bedrock',
}

/** LiteLLM's provider → the vendor. A preset has its prices with its row: its name there is the same, or one of `importNames`. */
const vendors = new Map(Object.entries(kindVendors))
for (const { name, importNames } of presets) for (const known of [name, ...importNames]) vendors.set(known, name)

/** What LiteLLM writes before a name to say who serves it. */
const isPrefix = (text: string) => text !== 'openai' && text !== 'anthropic' && vendors.has(text)

function splitKey(key: string): { model: string; prefixed: boolean } {
  const slash = key.indexOf('/')
  const prefixed = isPrefix(key.slice(0, Math.max(0, slash)))
  return { model: prefixed ? key.slice(slash + 1) : key, prefixed }
}

const tokenMembers: Record<TokenRateName, string> = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  cache_write_1h: 'cache_creation_input_token_cost_above_1hr',
  reasoning: 'output_cost_per_reasoning_token',
  audio_input: 'input_cost_per_audio_token',
  audio_output: 'output_cost_per_audio_token',
  audio_cache_read: 'cache_read_input_audio_token_cost',
  image_input: 'input_cost_per_image_token',
  image_output: 'output_cost_per_image_token',
  image_cache_read: 'cache_read_input_image_token_cost',
  video_input: 'input_cost_per_video_token',
}

/** OpenAI's rate of the longest time. */
const laterNames: Partial<Record<TokenRateName, string>> = {
  cache_write_1h: 'cache_creation_input_token_cost_above_12hr',
}

/** Whether this is LiteLLM's file, and not a price of this gateway. */
export function isLitellm(file: unknown): boolean {
  return Object.values(asObject(file) ?? {}).some((entry) => typeof asObject(entry)?.litellm_provider === 'string')
}

/** What this gateway serves of LiteLLM's file; of two entries for the same model, the first. */
export function readLitellm(file: unknown, version: string): ModelPrice[] {
  const prices = new Map<string, ModelPrice>()
  for (const [key, entry] of Object.entries(asObject(file) ?? {})) {
    const price = readEntry(key, asObject(entry) ?? {}, version)
    if (price !== null && !prices.has(identity(price))) prices.set(identity(price), price)
  }
  return [...prices.values()]
}

/** Null: no vendor that this gateway serves, a name that only LiteLLM uses, or nothing that it can price. */
function readEntry(key: string, entry: LitellmEntry, version: string): ModelPrice | null {
  const vendor = vendors.get(String(entry.litellm_provider))
  const { model, prefixed } = splitKey(key)
  // `azure/eu/gpt-4o` and `bedrock/us-east-1/…` are regions of LiteLLM's own; a vendor's name with a slash has its vendor before it.
  if (vendor === undefined || model === '' || (model.includes('/') && !prefixed) || isRegional(vendor, model))
    return null
  const price = fillPrice({
    model,
    vendor,
    source: 'shipped',
    version,
    ...ratesOf(entry, ''),
    per_character: numberOf(entry.input_cost_per_character),
    per_second: numberOf(entry.input_cost_per_second),
    per_search: searchRate(entry) ?? usualSearch(vendor, model, entry),
    per_file_search: vendor === 'openai' && hasTools(entry) ? fileSearch : null,
    per_image: imageRate(entry),
    long_context: longContext(entry, ''),
    max_input: mostOf(entry.max_input_tokens),
    max_output: mostOf(entry.max_output_tokens),
  })
  // A write costs at least what is written: less is the price of storing it, or means that it is not charged apart.
  if (price.input !== null && price.cache_write !== null && price.cache_write < price.input) price.cache_write = null
  // Models that write nothing but images or sound: what is not told apart is that.
  price.output ??= price.image_output ?? price.audio_output
  for (const variant of priceVariants) price[variant] = variantRates(entry, variant === 'batch' ? 'batches' : variant)
  addOfVendor(price, entry.provider_specific_entry)
  addRegional(price, entry)
  addLongWrites(price)
  leaveToWhole(price)
  return isPriced(price) ? price : null
}

const isRegional = (vendor: string, model: string) =>
  (vendor === 'azure-openai' || vendor === 'bedrock') && model.includes('/')

/** Per million: exact, since LiteLLM's figures are decimal fractions of a few digits. */
function ratesOf(entry: LitellmEntry, ending: string): Partial<TokenRates> {
  const rates: Partial<TokenRates> = {}
  for (const [name, member] of Object.entries(tokenMembers) as [TokenRateName, string][]) {
    const each = numberOf(entry[`${member}${ending}`]) ?? numberOf(entry[`${laterNames[name] ?? ''}${ending}`])
    if (each !== null) rates[name] = Number((each * 1e6).toPrecision(10))
  }
  return rates
}

function variantRates(entry: LitellmEntry, ending: string): VariantRates | null {
  const rates: VariantRates = ratesOf(entry, `_${ending}`)
  const long = longContext(entry, `_${ending}`)
  if (long !== null) {
    const { over: _over, ...longRates } = long
    rates.long_context = longRates
  }
  return Object.keys(rates).length === 0 ? null : rates
}

/** Anthropic's: how many times the usual rates fast mode costs, and a place of processing. Cached tokens cost as many times more. */
function addOfVendor(price: ModelPrice, entry: unknown): void {
  if (typeof entry !== 'object' || entry === null) return
  const { fast, us } = entry as LitellmEntry
  const times = numberOf(fast)
  if (times !== null) price.fast = timesEach(price, times)
  const there = factorOf(us)
  if (there !== null) price.geo = { us: there }
}

/** At OpenAI's hosts of regions, and on Vertex anywhere but at `global`. */
function addRegional(price: ModelPrice, entry: LitellmEntry): void {
  const times = factorOf(entry.regional_processing_uplift_multiplier_eu ?? entry.regional_endpoint_uplift_multiplier)
  if (times !== null) price.geo = { ...price.geo, regional: times }
}

/** OpenAI's price of a search in files, which LiteLLM has in its code. */
const fileSearch = 0.0025

const hasTools = (entry: LitellmEntry) => entry.mode === 'chat' || entry.mode === 'responses'

/** What LiteLLM leaves out with some models: vendors charge each search alike, OpenAI's models that do not reason more. */
function usualSearch(vendor: string, model: string, entry: LitellmEntry): number | null {
  if (!hasTools(entry) || model.startsWith('ft:') || /audio|realtime|instruct/.test(model)) return null
  if (vendor === 'anthropic') return 0.01
  if (vendor === 'azure-openai') return /^(?:gpt|o\d|chat|codex)/.test(model) ? 0.014 : null
  if (vendor === 'openai') return /^gpt-(?:4|5-chat)/.test(model) ? 0.025 : 0.01
  return null
}

/** LiteLLM leaves out what a write for an hour costs in a batch: as much less as any other write. */
function addLongWrites({ batch, cache_write: write, cache_write_1h: hour, long_context: long }: ModelPrice): void {
  addLongWrite(batch, write, hour)
  addLongWrite(batch?.long_context, long?.cache_write, long?.cache_write_1h)
}

function addLongWrite(
  rates: Partial<TokenRates> | null | undefined,
  write?: number | null,
  hour?: number | null,
): void {
  const batched = rates?.cache_write
  if (rates != null && batched != null && write && hour)
    rates.cache_write_1h ??= Number(((hour * batched) / write).toPrecision(10))
}

/** Parts of the input and the output, and what they cost if they are not priced apart. */
const parts = [
  ['reasoning', 'output'],
  ['audio_input', 'input'],
  ['audio_output', 'output'],
  ['image_input', 'input'],
  ['image_output', 'output'],
  ['audio_cache_read', 'cache_read'],
  ['image_cache_read', 'cache_read'],
] as const satisfies readonly [TokenRateName, TokenRateName][]

/**
 * LiteLLM leaves these out of most tiers and long requests, where the usual rate would be taken. One that is that of the whole is not
 * priced apart; another costs in a tier as many times more or less as the whole does there.
 */
function leaveToWhole(price: ModelPrice): void {
  for (const [part, whole] of parts) {
    const [rate, usual] = [price[part], price[whole]]
    if (rate === null || usual === null) continue
    if (rate === usual) price[part] = null
    for (const tier of [price.batch, price.flex, price.priority]) {
      const there = tier?.[whole]
      if (tier !== null && there != null && rate !== usual && usual > 0)
        tier[part] ??= Number(((rate * there) / usual).toPrecision(10))
    }
  }
}

function timesEach(price: ModelPrice, times: number): VariantRates {
  const rates: VariantRates = {}
  for (const name of tokenRateNames) {
    const rate = price[name]
    if (rate !== null) rates[name] = Number((rate * times).toPrecision(10))
  }
  return rates
}

/** The lowest of LiteLLM's limits; a model with several has its highest rates from there on only by `prices set`. */
function longContext(entry: LitellmEntry, ending: string): ModelPrice['long_context'] {
  for (const thousand of [100, 128, 200, 256, 272, 512]) {
    const rates = ratesOf(entry, `_above_${thousand}k_tokens${ending}`)
    if (rates.input !== undefined || rates.output !== undefined) return { over: thousand * 1000, ...rates }
  }
  return null
}

function searchRate(entry: LitellmEntry): number | null {
  const sizes = entry.search_context_cost_per_query
  if (typeof sizes !== 'object' || sizes === null) return null
  return numberOf((sizes as Record<string, unknown>).search_context_size_medium)
}

function imageRate(entry: LitellmEntry): Record<string, number> | null {
  const each = numberOf(entry.output_cost_per_image)
  return each === null || numberOf(entry.output_cost_per_image_token) !== null ? null : { '*': each }
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/** As `prices set --geo` takes it. */
function factorOf(value: unknown): number | null {
  const factor = numberOf(value) ?? 0
  return factor >= 0.1 && factor <= 10 ? factor : null
}

const mostOf = (value: unknown) => Math.floor(numberOf(value) ?? 0) || null

/** A row of zeros says nothing but that LiteLLM knows no price, unless moderation is free. */
function isPriced(price: ModelPrice): boolean {
  const { input, output, per_character, per_second, per_search, per_image } = price
  const isFree = [input, output, per_character, per_second].every((rate) => rate === null || rate === 0)
  return !isFree || per_image !== null || (per_search !== null && input !== null) || price.model.includes('moderation')
}
