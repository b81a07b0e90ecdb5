import type { TokenUsage } from '../core/record.ts'

/** Of several answers on one connection; null counts for nothing. */
export function addUsage(one: TokenUsage | null, other: TokenUsage | null): TokenUsage | null {
  if (one === null || other === null) return one ?? other
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cache_read: one.cache_read + other.cache_read,
    cache_write: one.cache_write + other.cache_write,
    reasoning: one.reasoning + other.reasoning,
    source: one.source === other.source ? one.source : 'estimated',
  }
}
