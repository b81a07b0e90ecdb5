import { openFramer } from '../../lanes/framer.ts'
import type { Transport } from '../../providers/contract.ts'
import { openUpload } from '../upload/send-upload.ts'
import type { Gated } from './answer-consumer.ts'
import { type Leg, noteLeg, notePatch } from './leg.ts'
import { UpstreamCall } from './upstream-call.ts'

/** Sends a leg. What comes back waits behind the gate of the upstream call. */
export function begin(leg: Leg): UpstreamCall {
  const { call, framing, inspection, limits } = leg
  const { gateway, arrival, body } = call
  const transport = transportFor(leg)
  const upstream = new UpstreamCall({
    deadlines: gateway.deadlines,
    limits,
    totalAt: arrival.completeAt + limits.total,
    streamed: inspection.streamed,
    uploading: body.upload !== null,
    responseForm: leg.match.endpoint.responseForm,
    mayBeEmpty: leg.match.endpoint.model === 'none',
    streamType: framing === 'json-array' ? 'application/json' : 'text/event-stream',
    reader: leg.reader,
    mustRead: call.createsObjects || call.content?.readsAnswer === true || leg.translation !== null,
    budget: gateway.budget,
    framer: framing === null ? null : openFramer(framing),
  })
  if (body.upload !== null) leg.request.body = openUpload(leg, body.upload, upstream)
  upstream.begin(transport.send(leg.request, upstream))
  noteLeg(leg)
  return upstream
}

function transportFor({ call, lane, match, inspection, provider, candidate, credential }: Leg): Transport {
  const { kind, row } = provider
  const transport = kind.transport ?? call.transport
  if (kind.wrapTransport === undefined) return transport
  return kind.wrapTransport(transport, {
    provider: row,
    lane: lane.name,
    operation: match.endpoint.operation,
    model: candidate.upstreamModel,
    streamed: inspection.streamed,
    credential,
    recordChange: (text) => notePatch(call, text),
  })
}

/**
 * Asks for the rest of an answer. Once more where the connection broke before anything came: nothing else tries a stream again that has
 * begun, and a connection may have been left open for too long. `began`: what is to be aborted if the request ends meanwhile.
 */
export async function sendForRest(
  leg: Leg,
  began: (upstream: UpstreamCall) => void,
): Promise<{ upstream: UpstreamCall; gated: Gated }> {
  for (let last = false; ; last = true) {
    const upstream = begin(leg)
    began(upstream)
    const gated = await upstream.gate
    const isStale = gated.kind === 'failed' && gated.transport === 'reset' && upstream.head.status === 0
    if (!isStale || last) return { upstream, gated }
  }
}
