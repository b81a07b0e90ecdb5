import { usdOfNano } from '../../core/money.ts'
import type { Cost } from '../../core/record.ts'
import { costOf } from '../../policy/prices/cost.ts'
import type { Arrival } from '../request/arrival.ts'
import type { RequestEnd } from '../request/trace.ts'

/**
 * What the request cost, by the price of the model that its last attempt reached, on that attempt; nothing where nothing was
 * used that costs. A model without a price is never silently free: it leaves the signal `unpriced` (contract.md rule 7).
 */
export function priceCall({ gateway, trace }: Arrival, end: RequestEnd): void {
  const { provider, priced } = trace
  const usage = { tokens: end.tokens, detail: end.detail ?? null }
  if (provider === null || priced === null || (usage.tokens === null && usage.detail === null)) return
  const price = gateway.model.prices.find({ provider, ...priced })
  const nano = price === null ? null : costOf(usage, price)
  if (price === null || nano === null) {
    trace.policySignals.push({
      rule: 'unpriced',
      verdict: 'flag',
      text: `The model ${priced.model} has no price, so this request has no cost.`,
      data: { model: priced.model, provider },
    })
    return
  }
  const cost: Cost = { usd: usdOfNano(nano), price_version: price.version }
  const attempt = trace.attempts.at(-1)
  if (attempt !== undefined) attempt.cost = cost
  trace.cost = cost
}
