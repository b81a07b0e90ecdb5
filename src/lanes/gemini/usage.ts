import { asCount, asObject } from '../../core/json-value.ts'
import type { TokenUsage } from '../../core/record.ts'

/** Members that are zero are left out on the wire. Source: wire/streaming.md, sections 4 and 5. */
export function readGenerateUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null) return null
  const reasoning = asCount(usage.thoughtsTokenCount)
  return {
    input: asCount(usage.promptTokenCount) + asCount(usage.toolUsePromptTokenCount),
    output: asCount(usage.candidatesTokenCount) + reasoning,
    cache_read: asCount(usage.cachedContentTokenCount),
    cache_write: 0,
    reasoning,
    source: 'reported',
  }
}

/** Live names the answer's tokens `responseTokenCount`; the rest is the same. */
export function readLiveUsage(value: unknown): TokenUsage | null {
  const usage = readGenerateUsage(value)
  return usage === null ? null : { ...usage, output: usage.output + asCount(asObject(value)?.responseTokenCount) }
}
