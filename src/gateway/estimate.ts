import type { TokenUsage } from '../core/record.ts'
import type { Exchange } from './exchange.ts'

/** A token for four bytes of request: what English text comes to. Never more than an estimate. */
export function estimateInput(exchange: Exchange): number {
  return Math.ceil(exchange.body.length / 4)
}

/**
 * What a request is charged for which no end is ever written: its input by estimate, and as much output as its client
 * allows; none where the client sets no limit.
 */
export function estimateHold(exchange: Exchange): TokenUsage | null {
  if (exchange.match?.endpoint.usesTokens === false) return null
  return {
    input: estimateInput(exchange),
    output: exchange.inspection?.outputLimit ?? 0,
    cache_read: 0,
    cache_write: 0,
    reasoning: 0,
    source: 'estimated',
  }
}
