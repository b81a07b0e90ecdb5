import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReplyUsage } from '../reply.ts'
import { servedTier } from '../served-tier.ts'

/** Cached tokens are not part of the input here. Source: wire/streaming.md, section 5. */
export function writeMessagesUsage(usage: ReplyUsage): JsonObject {
  const { tokens, detail } = usage
  const longWrite = Math.min(detail?.cache_write_1h ?? 0, tokens.cache_write)
  return {
    input_tokens: Math.max(0, tokens.input - tokens.cache_read - tokens.cache_write),
    cache_creation_input_tokens: tokens.cache_write,
    cache_read_input_tokens: tokens.cache_read,
    cache_creation: {
      ephemeral_5m_input_tokens: tokens.cache_write - longWrite,
      ephemeral_1h_input_tokens: longWrite,
    },
    output_tokens: tokens.output,
    output_tokens_details: { thinking_tokens: tokens.reasoning },
    server_tool_use: detail?.searches ? { web_search_requests: detail.searches, web_fetch_requests: 0 } : null,
    service_tier: servedTier(usage, 'messages'),
    inference_geo: null,
    speed: null,
  }
}

/** The estimate before the answer, which clients show until they know better. */
export function estimatedUsage(input: number): JsonObject {
  return {
    input_tokens: Math.max(1, input),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    // Not known yet, and clients only read it here.
    cache_creation: null,
    output_tokens: 1,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: null,
    inference_geo: null,
    speed: null,
  }
}

/** In `message_delta`: the total so far, which replaces earlier numbers. */
export function writeDeltaUsage(usage: ReplyUsage): JsonObject {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens, ...rest } =
    writeMessagesUsage(usage)
  const { output_tokens_details, server_tool_use } = rest
  return {
    input_tokens,
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens,
    output_tokens_details,
    server_tool_use,
  }
}
