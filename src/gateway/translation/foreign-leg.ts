import type { FormatName } from '../../core/format.ts'
import type { BodyPatch } from '../../lanes/contract.ts'
import type { BodyLease } from '../request/body-memory.ts'
import type { Call } from '../request/call.ts'
import { headersUp, withoutTrace } from '../upstream/headers.ts'
import { type Leg, type LegTarget, limitsOf, mustDropTrace, traceUp, upstreamPath } from '../upstream/leg.ts'
import { type CallForm, findUpstreamShape, inspectUpstream } from './upstream-call-shape.ts'
import { neutralHeaders } from './vendor-headers.ts'

/** A request written for a provider. */
interface ForeignRequest {
  format: FormatName
  form: CallForm
  body: Buffer
  /** The reused memory that holds the body, if any. */
  lease: BodyLease | null
}

/** Everything that is sent to a provider of another format: nothing specific to the client's own vendor. */
export function makeForeignLeg(call: Call, destination: LegTarget, { format, form, body, lease }: ForeignRequest): Leg {
  const { candidate, provider, credential, credentialIndex } = destination
  const { kind, row } = provider
  const { lane, match } = findUpstreamShape(format, form)
  const inspection = inspectUpstream(format, candidate.upstreamModel, call.inspection)
  const limits = limitsOf(call, destination)
  const path = upstreamPath(lane, match, inspection, candidate.upstreamModel)
  const own = [...kind.headers(row, lane.name, credential), ...Object.entries(row.headers), jsonType]
  if (call.gateway.settings.traces) own.push(...traceUp(call))
  const raw = neutralHeaders(call.arrival.request.rawHeaders, format)
  const headers = headersUp(raw, call.presented, own, kind.defaults ?? [])
  const request = {
    method: 'POST',
    ...kind.address(row, lane.name, path),
    headers: mustDropTrace(call) ? withoutTrace(headers) : headers,
    body,
    borrowed: lease,
    connectMs: limits.connect,
    egress: provider.egress === null ? null : provider.egress[credentialIndex],
  }
  const change: BodyPatch = { renameTo: null, askForUsage: false }
  const reader = match.endpoint.reader(inspection, change, kind.usageConvention?.(row))
  const { framing } = inspection
  return { ...destination, call, lane, match, inspection, limits, change, framing, reader, request }
}

const jsonType = ['content-type', 'application/json'] as const
