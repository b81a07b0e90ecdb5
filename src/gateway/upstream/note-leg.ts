import { findHeader, findRequestId } from './headers.ts'
import type { Leg } from './leg.ts'
import type { UpstreamCall } from './upstream-call.ts'

/** By which price a leg is charged; null: nothing, as with the built-in provider, unless a price was set for it. */
export function pricedAs({ call, provider, candidate }: Leg): { vendor: string | null; model: string } | null {
  const model = candidate.upstreamModel
  const isFree = provider.kind.transport !== null && call.gateway.model.priceOf(provider, model) === null
  return isFree ? null : { vendor: provider.vendor, model }
}

/** Where the request goes, as its record says. */
export function noteLeg(leg: Leg): void {
  const { call, provider, candidate } = leg
  const { trace } = call
  if (trace.provider !== provider.row.name) trace.providerRequestId = null
  trace.provider = provider.row.name
  trace.upstreamModel = candidate.upstreamModel
  trace.priced = pricedAs(leg)
}

/** What the provider says of it in its head. */
export function noteHead({ call: { trace }, lane }: Leg, { head }: UpstreamCall): void {
  trace.providerRequestId = findRequestId(head.headers) ?? trace.providerRequestId
  // Clients do not get this header.
  if (lane.name === 'gemini')
    trace.statedTier = findHeader(head.headers, 'x-gemini-service-tier')?.toLowerCase() ?? null
}
