import { estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import { costOf } from './cost.ts'

/** Assumed for an answer without a limit: many are shorter, but it is the same for all targets that are compared. */
const usualOutput = 1000

/** The estimated cost of a request in nano-dollars, before its answer; null: there is no price. */
export function estimateCost(price: ModelPrice | null, input: number, outputLimit: number | null): bigint | null {
  if (price === null) return null
  const tokens = estimatedTokens(input, outputLimit ?? usualOutput)
  return costOf({ tokens, detail: null }, price)
}
