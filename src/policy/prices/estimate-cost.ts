import { estimatedTokens } from '../../core/estimated-tokens.ts'
import type { ModelPrice } from '../../core/model-price.ts'
import { costOf } from './cost.ts'

/** What is taken for an answer whose length the client does not bound: many are shorter, and all targets are compared by it alike. */
const usualOutput = 1000

/** What a request would cost, in nano-dollars, before anything is known of its answer; null: there is no price for it. */
export function estimateCost(price: ModelPrice | null, input: number, outputLimit: number | null): bigint | null {
  if (price === null) return null
  const tokens = estimatedTokens(input, outputLimit ?? usualOutput)
  return costOf({ tokens, detail: null }, price)
}
