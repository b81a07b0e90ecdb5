import { usualImageModel } from '../../core/cost/asked-tools.ts'
import { asArray, asObject, asText, isCount, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageConvention, UsageDetail } from '../../core/record.ts'
import type { TurnUsage } from '../contract.ts'
import type { ResultUsage } from '../earlier-work.ts'
import { countUsage, firstCount, readCount, usageDetail, usualConvention, type WrittenUsage } from '../usage.ts'

/**
 * Chat, legacy completions and embeddings. Besides OpenAI's members these read the names by which compatible vendors
 * report the same. Source: wire/streaming.md, section 5.
 */
export function readChatUsage(value: unknown, convention: UsageConvention = usualConvention): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null) return null
  const input = asObject(usage.prompt_tokens_details)
  const output = asObject(usage.completion_tokens_details)
  const prompt = readCount(usage.prompt_tokens)
  const completion = readCount(usage.completion_tokens)
  const total = readCount(usage.total_tokens)
  // Some vendors of embeddings report a total alone.
  const alone = readCount(usage.input_tokens) === null && readCount(usage.output_tokens) === null ? total : null
  if ((prompt ?? completion ?? alone) === null) return null
  const { cached_tokens, prompt_cache_hit_tokens, num_cached_tokens } = usage
  const written: WrittenUsage = {
    input: prompt,
    output: completion ?? 0,
    cacheRead: firstCount(input?.cached_tokens, cached_tokens, prompt_cache_hit_tokens, num_cached_tokens),
    cacheWrite: readCount(input?.cache_write_tokens) ?? 0,
    reasoning: firstCount(output?.reasoning_tokens, usage.reasoning_tokens),
    total,
  }
  return countUsage(written, convention)
}

/** Responses, and Realtime, which names the details `input_token_details`. Source: the same table. */
export function readResponsesUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null) return null
  const written = readCount(usage.input_tokens)
  const answered = readCount(usage.output_tokens)
  if ((written ?? answered) === null) return null
  const input = asObject(usage.input_tokens_details ?? usage.input_token_details)
  const output = asObject(usage.output_tokens_details ?? usage.output_token_details)
  const counts: WrittenUsage = {
    input: written,
    output: answered ?? 0,
    cacheRead: readCount(input?.cached_tokens) ?? 0,
    cacheWrite: readCount(input?.cache_write_tokens) ?? 0,
    reasoning: readCount(output?.reasoning_tokens) ?? 0,
    total: readCount(usage.total_tokens),
  }
  return countUsage(counts, usualConvention)
}

/** Images, speech, transcriptions and decisions count like responses. What is billed by duration has no tokens. */
export function readUsage(value: unknown): TokenUsage | null {
  return readChatUsage(value) ?? readResponsesUsage(value)
}

/**
 * What the usage of any endpoint says beyond counts, by the names of chat and of responses. Realtime counts cached audio as
 * audio, too. Source: wire/streaming.md, section 5.
 */
export function readUsageDetail(value: unknown, tier: unknown, calls: HostedCalls | null = null): UsageDetail | null {
  // Most answers say nothing more.
  if ((value ?? tier ?? calls ?? null) === null) return null
  const usage = asObject(value) ?? {}
  // Perplexity charges each request for its search.
  const searched = typeof usage.search_context_size === 'string' ? { searches: 1 } : null
  // Chat, Responses, Realtime.
  const input = asObject(usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.input_token_details)
  const output = asObject(usage.completion_tokens_details ?? usage.output_tokens_details ?? usage.output_token_details)
  if (input === null && output === null && (tier ?? calls ?? searched ?? null) === null && usage.type !== 'duration')
    return null
  const cached = asObject(input?.cached_tokens_details)
  return usageDetail({
    // What is kept for longer costs more; so does what Anthropic keeps for an hour.
    cache_write_1h: asObject(input?.cache_write_tokens_details)?.ttl_12h_tokens,
    audio_input: input?.audio_tokens,
    audio_output: output?.audio_tokens,
    audio_cached: cached?.audio_tokens,
    image_input: input?.image_tokens,
    image_output: output?.image_tokens,
    image_cached: cached?.image_tokens ?? cached?.cached_image_tokens,
    // Transcriptions by models that are billed by time.
    seconds: usage.type === 'duration' ? usage.seconds : undefined,
    ...searched,
    ...calls,
    tier,
  })
}

/** What tools of the provider did for a response that is paid by the call. */
export type HostedCalls = Partial<Pick<UsageDetail, 'searches' | 'file_searches' | 'containers'>>

/** Most answers hold none of these words. */
const callWords = ['"web_search_call"', '"file_search_call"', '"cntr_'].map((word) => Buffer.from(word))

export const mayHaveCalls = (answer: Buffer): boolean => callWords.some((word) => answer.includes(word))

/**
 * How often a response searched the web: from its usage of tools, else from its calls. Opening a page that was found is not a search. And
 * how often it searched in files, and in how many containers code ran; one that the request named was paid for by whoever created it.
 * Null: the answer does not say.
 */
export function readCalls({ tool_usage, tools, output }: JsonObject): HostedCalls | null {
  const counted = asObject(asObject(tool_usage)?.web_search)?.num_requests
  const items = asArray(output).map((item) => asObject(item) ?? {})
  const ofType = (type: string) => items.filter((item) => item.type === type)
  const searching = ofType('web_search_call')
  const searches = searching.filter(({ action }) => (asText(asObject(action)?.type) ?? 'search') === 'search')
  const named = new Set(asArray(tools).map((tool) => asText(asObject(tool)?.container)))
  const containers = items.map((item) => asText(item.container_id ?? asObject(item.environment)?.container_id))
  const used = new Set(containers.filter((id) => id !== null && !named.has(id)))
  const searched = isCount(counted) ? counted : searching.length === 0 ? null : searches.length
  const calls = { searches: searched, file_searches: ofType('file_search_call').length, containers: used.size }
  return searched === null && calls.file_searches + calls.containers === 0 ? null : calls
}

/**
 * What the tool that makes images has used for a response, which its usage leaves out; null: nothing. Source: the SDK's
 * `Response.ToolUsage.ImageGen`.
 */
export function readImageTool({ tool_usage, tools }: JsonObject): TurnUsage | null {
  const used = asObject(asObject(tool_usage)?.image_gen)
  const { cached_tokens, input_tokens_details: details } = used ?? {}
  const cached = asObject(used?.cached_tokens_details)?.cached_image_tokens
  const tokens = readResponsesUsage({ ...used, input_tokens_details: { cached_tokens } })
  if (tokens === null || tokens.input + tokens.output === 0) return null
  const output = asObject(used?.output_tokens_details)?.image_tokens
  const tool = asArray(tools)
    .map(asObject)
    .find((each) => each?.type === 'image_generation')
  return {
    tokens,
    detail: usageDetail({
      image_input: readCount(asObject(details)?.image_tokens),
      image_output: output ?? tokens.output,
      image_cached: readCount(cached),
    }),
    model: asText(tool?.model) ?? usualImageModel,
  }
}

/**
 * The usage of the only model that a grader asked. Null for several models: they have different prices, and an answer has one. Source: the
 * vendor's reference of `POST /fine_tuning/alpha/graders/run`.
 */
export function readGraderUsage(value: unknown): TokenUsage | null {
  const [used, ...others] = Object.values(asObject(value) ?? {})
  return others.length > 0 ? null : readChatUsage(used)
}

/** A line of a batch's output: `{custom_id, response: {status_code, body}, error}`. Source: wire/lanes.md, section 1.3. */
export function readResult(line: Buffer): ResultUsage | null {
  const body = asObject(asObject(parseObject(line)?.response)?.body)
  const tokens = readUsage(body?.usage)
  if (body === null || tokens === null) return null
  const detail = readUsageDetail(body.usage, body.service_tier, readCalls(body))
  return { model: asText(body.model), tokens, detail, beside: resultsBeside(body) }
}

/** What the tool that makes images has used for an answer that is counted later. */
export function resultsBeside(answer: JsonObject): ResultUsage[] {
  const used = readImageTool(answer)
  return used?.tokens == null ? [] : [{ model: used.model ?? null, tokens: used.tokens, detail: used.detail }]
}
