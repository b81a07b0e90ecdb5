import { asCount, asObject, asText, isCount, parseObject } from '../../core/json-value.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { ResultUsage } from '../contract.ts'

/** Chat, legacy completions and embeddings. Source: wire/streaming.md, section 5. */
export function readChatUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null || !(isCount(usage.prompt_tokens) || isCount(usage.completion_tokens))) return null
  const input = asObject(usage.prompt_tokens_details)
  const output = asObject(usage.completion_tokens_details)
  return {
    input: asCount(usage.prompt_tokens),
    output: asCount(usage.completion_tokens),
    cache_read: asCount(input?.cached_tokens),
    cache_write: asCount(input?.cache_write_tokens),
    reasoning: asCount(output?.reasoning_tokens),
    source: 'reported',
  }
}

/** Responses. Source: the same table. */
export function readResponsesUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null || !(isCount(usage.input_tokens) || isCount(usage.output_tokens))) return null
  const input = asObject(usage.input_tokens_details)
  const output = asObject(usage.output_tokens_details)
  return {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cache_read: asCount(input?.cached_tokens),
    cache_write: asCount(input?.cache_write_tokens),
    reasoning: asCount(output?.reasoning_tokens),
    source: 'reported',
  }
}

/** Images, speech, transcriptions and decisions count like responses. What is billed by duration has no tokens. */
export function readUsage(value: unknown): TokenUsage | null {
  return readChatUsage(value) ?? readResponsesUsage(value)
}

/** A line of a batch's output: `{custom_id, response: {status_code, body}, error}`. Source: wire/lanes.md, section 1.3. */
export function readResult(line: Buffer): ResultUsage | null {
  const body = asObject(asObject(parseObject(line)?.response)?.body)
  const tokens = readUsage(body?.usage)
  return tokens === null ? null : { model: asText(body?.model), tokens }
}
