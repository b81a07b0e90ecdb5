import { asCount, asObject, isCount, type JsonObject } from '../../core/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { countModality, usageDetail } from '../usage-detail.ts'
import { countUsage, usualConvention } from '../usage-totals.ts'

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

function read(usage: JsonObject, answered: unknown): TokenUsage {
  const { promptTokenCount: prompt, toolUsePromptTokenCount: tools } = usage
  const reasoning = asCount(usage.thoughtsTokenCount)
  const written = {
    input: isCount(prompt) || isCount(tools) ? asCount(prompt) + asCount(tools) : null,
    output: asCount(answered) + reasoning,
    cacheRead: asCount(usage.cachedContentTokenCount),
    cacheWrite: 0,
    reasoning,
    total: usage.totalTokenCount,
  }
  return countUsage(written, usualConvention)
}

/** What the lists by modality say: of prompt, answer and cache. The prompt's list counts cached tokens, too. */
export function readGenerateDetail(value: unknown): UsageDetail | null {
  const usage = asObject(value)
  if (usage === null) return null
  const answered = usage.candidatesTokensDetails ?? usage.responseTokensDetails
  return usageDetail({
    audio_input: countModality(usage.promptTokensDetails, 'AUDIO'),
    audio_output: countModality(answered, 'AUDIO'),
    audio_cached: countModality(usage.cacheTokensDetails, 'AUDIO'),
    image_input: countModality(usage.promptTokensDetails, 'IMAGE'),
    image_output: countModality(answered, 'IMAGE'),
  })
}
