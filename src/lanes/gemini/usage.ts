import { scanObject } from '../../core/json/json-scan.ts'
import { asArray, asCount, asObject, asText, type JsonObject, readMembers } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import type { RequestContent } from '../contract.ts'
import { countCodePoints, countModality, countUsage, readCount, usageDetail, usualConvention } from '../usage.ts'

/** Members that are zero are left out on the wire. Source: wire/streaming.md, sections 4 and 5. */
export function readGenerateUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  return usage === null ? null : read(usage, usage.candidatesTokenCount)
}

/** Live names the answer's tokens `responseTokenCount`; the rest is the same. */
export function readLiveUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  return usage === null ? null : read(usage, usage.responseTokenCount ?? usage.candidatesTokenCount)
}

function read(usage: JsonObject, answered: unknown): TokenUsage | null {
  const { promptTokenCount, toolUsePromptTokenCount, thoughtsTokenCount, cachedContentTokenCount } = usage
  return countParts({
    input: [promptTokenCount, toolUsePromptTokenCount],
    output: answered,
    reasoning: thoughtsTokenCount,
    cached: cachedContentTokenCount,
    total: usage.totalTokenCount,
  })
}

/** The prompt of tools and the model's thoughts are counted beside. Source: wire/streaming.md, section 4. */
export function countParts(parts: {
  input: readonly unknown[]
  output: unknown
  reasoning: unknown
  cached: unknown
  total: unknown
}): TokenUsage | null {
  const read = parts.input.map(readCount).filter((count) => count !== null)
  const reasoning = readCount(parts.reasoning) ?? 0
  const written = {
    input: read.length === 0 ? null : read.reduce((sum, count) => sum + count, 0),
    output: (readCount(parts.output) ?? 0) + reasoning,
    cacheRead: readCount(parts.cached) ?? 0,
    cacheWrite: 0,
    reasoning,
    total: readCount(parts.total),
  }
  return countUsage(written, usualConvention)
}

/** What the lists by modality say: of prompt, answer and cache. The prompt's list counts cached tokens, too. */
export function readGenerateDetail(value: unknown, searches: number | null = null): UsageDetail | null {
  const usage = asObject(value)
  if (usage === null) return null
  const answered = usage.candidatesTokensDetails ?? usage.responseTokensDetails
  return usageDetail({
    audio_input: countModality(usage.promptTokensDetails, 'AUDIO'),
    audio_output: countModality(answered, 'AUDIO'),
    audio_cached: countModality(usage.cacheTokensDetails, 'AUDIO'),
    image_input: countModality(usage.promptTokensDetails, 'IMAGE'),
    image_output: countModality(answered, 'IMAGE'),
    image_cached: countModality(usage.cacheTokensDetails, 'IMAGE'),
    video_input: uncachedVideo(usage),
    searches,
    tier: tierOf(usage),
  })
}

/** What is cached of it has the rate of text. */
const uncachedVideo = ({ promptTokensDetails, cacheTokensDetails }: JsonObject) =>
  Math.max(0, countModality(promptTokensDetails, 'VIDEO') - countModality(cacheTokensDetails, 'VIDEO'))

/** Vertex says by which traffic a call was served: `ON_DEMAND_FLEX`, `ON_DEMAND_PRIORITY`, … */
function tierOf({ serviceTier, trafficType }: JsonObject): string | null {
  const tier = asText(serviceTier) ?? asText(trafficType)?.replace(/^ON_DEMAND_?/, '') ?? ''
  return tier === '' ? null : tier.toLowerCase()
}

/** How many searches with Google are charged for an answer; null: it has none. A prompt that Google Maps grounds counts as one. */
export function readSearches(candidates: unknown, model: string | null): number | null {
  const queries = asArray(candidates).flatMap((candidate) =>
    asArray(asObject(asObject(candidate)?.groundingMetadata)?.webSearchQueries),
  )
  const maps = asArray(candidates).some((candidate) =>
    asArray(asObject(asObject(candidate)?.groundingMetadata)?.groundingChunks).some((chunk) => asObject(chunk)?.maps),
  )
  return chargedSearches(queries.length, model) + (maps ? 1 : 0) || null
}

/** The same of an interaction, whose members have other names. Source: the types of the vendor's SDK. */
export function readInteractionDetail(value: unknown, model: string | null, tier: unknown): UsageDetail | null {
  const usage = asObject(value)
  if (usage === null) return null
  const counted = asArray(usage.grounding_tool_count).map(asObject)
  const searches = counted.reduce(
    (sum, each) => sum + (groundedBy.has(String(each?.type)) ? asCount(each?.count) : 0),
    0,
  )
  const sum = (list: unknown, modality: string) =>
    countModality(
      asArray(list).map((each) => ({ modality: asObject(each)?.modality, tokenCount: asObject(each)?.tokens })),
      modality,
    )
  return usageDetail({
    audio_input: sum(usage.input_tokens_by_modality, 'audio'),
    audio_output: sum(usage.output_tokens_by_modality, 'audio'),
    audio_cached: sum(usage.cached_tokens_by_modality, 'audio'),
    image_input: sum(usage.input_tokens_by_modality, 'image'),
    image_output: sum(usage.output_tokens_by_modality, 'image'),
    image_cached: sum(usage.cached_tokens_by_modality, 'image'),
    video_input: Math.max(
      0,
      sum(usage.input_tokens_by_modality, 'video') - sum(usage.cached_tokens_by_modality, 'video'),
    ),
    searches: chargedSearches(searches, model),
    tier,
  })
}

const groundedBy = new Set(['google_search', 'google_maps'])

/** Up to Gemini 2.5 a prompt that is grounded is charged once, later each query. */
export const chargedSearches = (queries: number, model: string | null) =>
  queries > 0 && /^gemini-(?:live-)?[12]\b/.test(model ?? '') ? 1 : queries

/** What `predict` is paid for, whose answer reports no usage: texts by the character, else an image, unless the request says how many. */
export function readPredictUnits({ body }: RequestContent): UsageDetail | null {
  const scan = scanObject(body, ['instances', 'parameters'])
  const { instances, parameters } = scan.ok ? readMembers(body, scan.members) : {}
  // Vertex embeds the `content` of each.
  const texts = asArray(instances).flatMap((instance) => asText(asObject(instance)?.content) ?? [])
  if (texts.length > 0) return usageDetail({ characters: texts.reduce((sum, text) => sum + countCodePoints(text), 0) })
  return usageDetail({ images: asCount(asObject(parameters)?.sampleCount) || 1 })
}
