import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReplyUsage } from '../reply.ts'

/** The prompt includes cached tokens, the answer includes reasoning. Source: wire/streaming.md, section 5. */
export function writeChatUsage({ tokens, detail }: ReplyUsage): JsonObject {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: {
      cached_tokens: tokens.cache_read,
      ...(tokens.cache_write > 0 ? { cache_write_tokens: tokens.cache_write } : {}),
      audio_tokens: detail?.audio_input ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning,
      audio_tokens: detail?.audio_output ?? 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
