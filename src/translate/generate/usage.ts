import type { JsonObject } from '../../core/json-value.ts'
import type { ReplyUsage } from '../reply.ts'

/** Members that are zero are left out, as Google does. Reasoning is beside the answer's tokens here. */
export function writeGenerateUsage({ tokens }: ReplyUsage): JsonObject {
  const { input, output, cache_read, reasoning } = tokens
  const counts = {
    promptTokenCount: input,
    candidatesTokenCount: Math.max(0, output - reasoning),
    totalTokenCount: input + output,
    cachedContentTokenCount: cache_read,
    thoughtsTokenCount: reasoning,
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}
