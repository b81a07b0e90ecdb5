import { estimateCost } from '../../../policy/prices/estimate-cost.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import { vendorOf } from '../../../providers/vendor.ts'
import type { Figures } from '../../../routing/strategy.ts'
import type { AdminContext } from '../context.ts'

/** What of a request decides how long it takes and what it costs. */
export interface RequestSize {
  streamed: boolean
  bytes: number
  /** In tokens, as far as they tell. */
  input: number
  /** null: the client sets none. */
  outputLimit: number | null
  /** How many it asks for. */
  answers: number
}

/** What the data plane knows of targets for a request of that size. */
export function figuresOf({ runtime, kinds }: AdminContext, { streamed, input, outputLimit }: RequestSize): Figures {
  const prices = new PriceBook(runtime.prices())
  return {
    latencyOf: (target) => runtime.latency(target, streamed),
    costOf({ name, kind, settings }, model) {
      const known = kinds.find((each) => each.kind === kind)
      if (known === undefined) return null
      const target = { provider: name, vendor: vendorOf(known, settings), model }
      return estimateCost(prices.find(target), input, outputLimit)
    },
  }
}
