import { RewritingSink } from '../answer-sinks.ts'
import type { CallContext, OutboundRequest, ResponseSink } from '../contract.ts'
import { readDocument } from '../credential.ts'
import type { Prepared } from '../late-sending.ts'
import { anthropicError } from '../wire/anthropic-hosted.ts'
import { EventStreamSink } from './event-stream.ts'
import { adaptBedrock } from './request.ts'
import { sign } from './sign.ts'

/** A call as Bedrock takes it, and what makes its answer one of the lane's. */
export async function prepareCall(request: OutboundRequest, sink: ResponseSink, call: CallContext): Promise<Prepared> {
  try {
    if (call.operation === 'check') return { request: await authenticate(atControlPlane(request), call), sink }
    const adapted = adaptBedrock(request, call)
    const shaped = new RewritingSink(sink, (status) =>
      status < 300 ? adapted.rewrite : (body) => anthropicError(status, body),
    )
    const framed = call.streamed ? new EventStreamSink(shaped, (await import('./event-codec.ts')).decoder) : shaped
    return { request: await authenticate(adapted.request, call), sink: framed }
  } catch {
    // The reason is not told: it may quote the key.
    return { fault: { kind: 'protocol', message: 'The call could not be signed.' } }
  }
}

/** The list of models has another host than the models. */
function atControlPlane(request: OutboundRequest): OutboundRequest {
  return { ...request, origin: request.origin.replace('://bedrock-runtime.', '://bedrock.') }
}

/** A Bearer key stands among the headers already. */
async function authenticate(request: OutboundRequest, { credential, provider }: CallContext): Promise<OutboundRequest> {
  const document = credential && readDocument(credential)
  return document === null ? request : sign(request, document, String(provider.settings.region ?? ''))
}
