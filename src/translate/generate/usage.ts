import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReplyUsage } from '../reply.ts'
import { servedTier } from '../served-tier.ts'

/** Zero members are left out, as Google does. Reasoning is counted apart from the answer's tokens. */
export function writeGenerateUsage(usage: ReplyUsage): JsonObject {
  const { input, output, cache_read, reasoning } = usage.tokens
  const serviceTier = servedTier(usage, 'generate')
  const counts = {
    promptTokenCount: input,
    candidatesTokenCount: Math.max(0, output - reasoning),
    totalTokenCount: input + output,
    cachedContentTokenCount: cache_read,
    thoughtsTokenCount: reasoning,
  }
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    ...(serviceTier !== null && { serviceTier }),
  }
}
