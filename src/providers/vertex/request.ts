import { asString, type JsonObject } from '../../core/json/json-value.ts'
import { RewritingSink, withoutHeaders } from '../answer-sinks.ts'
import type { CallContext, OutboundRequest, ResponseSink, Sending, Transport } from '../contract.ts'
import { textOf } from '../credential.ts'
import { anthropicError, bytesOf, changeMembers } from '../wire/anthropic-hosted.ts'

const version = '"vertex-2023-10-16"'

/** Sends a call of the Gemini or the Anthropic lane to where Vertex has that publisher's models. */
export function adaptVertex(
  transport: Transport,
  request: OutboundRequest,
  sink: ResponseSink,
  call: CallContext,
  document: JsonObject | null,
): Sending {
  if (call.operation === 'check') return transport.send(request, sink)
  const project = asString(call.provider.settings.project) || (document === null ? '' : textOf(document, 'project_id'))
  const location = asString(call.provider.settings.location)
  const place = `/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}/publishers`
  if (call.lane === 'gemini')
    return transport.send({ ...request, path: googlePath(request.path, place, call.model) }, sink)
  const [base = ''] = request.path.split(/\/v1\/messages/)
  const adapted = {
    ...request,
    path: `${base}/v1${place}/anthropic/models/${anthropicTail(call)}`,
    headers: withoutHeaders(request.headers, ['anthropic-version']),
    body: anthropicBody(bytesOf(request.body), call),
  }
  return transport.send(
    adapted,
    new RewritingSink(sink, (status) => (status < 300 ? null : (body) => anthropicError(status, body))),
  )
}

/** `…/v1beta/models/NAME:VERB?…`; a base URL may have a path of its own before it. */
function googlePath(path: string, place: string, model: string): string {
  const [, base = '', form = '', tail = ''] = /^(.*?)\/(v1\w*)\/[^?]*(:[A-Za-z]+(?:\?.*)?)$/s.exec(path) ?? []
  // What the Gemini API has in preview, Vertex has in its own.
  return `${base}/${form === 'v1' ? 'v1' : 'v1beta1'}${place}/google/models/${encodeURIComponent(model)}${tail}`
}

function anthropicTail({ operation, model, streamed }: CallContext): string {
  if (operation === 'count_tokens') return 'count-tokens:rawPredict'
  return `${encodeURIComponent(model).replaceAll('%40', '@')}:${streamed ? 'streamRawPredict' : 'rawPredict'}`
}

/** A count names its model in the body; a message in the path. */
function anthropicBody(body: Buffer, { operation, recordChange }: CallContext): Buffer {
  if (operation === 'count_tokens') {
    recordChange('anthropic_version was put into the body (Vertex).')
    return changeMembers(body, [], { anthropic_version: version })
  }
  recordChange('model was moved from the body into the path, and anthropic_version was put in (Vertex).')
  return changeMembers(body, ['model'], { anthropic_version: version })
}
