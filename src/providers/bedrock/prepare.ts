import { asPositiveCount, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { headerValues, RewritingSink, withoutHeaders } from '../answer-sinks.ts'
import type { CallContext, OutboundRequest, ResponseSink } from '../contract.ts'
import { readJsonCredential, textOf } from '../credential.ts'
import type { Prepared } from '../deferred-sending.ts'
import { anthropicError, bytesOf, changeMembers } from '../wire/anthropic-hosted.ts'
import { EventStreamSink } from './event-stream.ts'

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
  const document = credential && readJsonCredential(credential)
  return document === null ? request : sign(request, document, String(provider.settings.region ?? ''))
}

interface Adapted {
  request: OutboundRequest
  /** What a good answer is made into; null: it stays. */
  rewrite: ((body: Buffer) => Buffer) | null
}

const version = '"bedrock-2023-05-31"'

/** A call of the Anthropic lane as Bedrock takes it. */
function adaptBedrock(request: OutboundRequest, call: CallContext): Adapted {
  const betas = headerValues(request.headers, 'anthropic-beta').flatMap((value) =>
    value.split(',').map((each) => each.trim()),
  )
  const beta: Record<string, string> = betas.length === 0 ? {} : { anthropic_beta: JSON.stringify(betas) }
  const body = changeMembers(bytesOf(request.body), ['model', 'stream'], { anthropic_version: version, ...beta })
  call.recordChange(
    'model and stream were moved from the body into the path, and anthropic_version was put in (Bedrock).',
  )
  if (betas.length > 0) call.recordChange('The header anthropic-beta was moved into the body (Bedrock).')
  const [base = ''] = request.path.split(/\/v1\/messages/)
  const model = `${base}/model/${encodeURIComponent(call.model)}`
  const headers = withoutHeaders(request.headers, ['anthropic-beta', 'anthropic-version'])
  if (call.operation === 'count_tokens') {
    return {
      request: { ...request, path: `${model}/count-tokens`, headers, body: countBody(body) },
      rewrite: readCount,
    }
  }
  const path = `${model}/${call.streamed ? 'invoke-with-response-stream' : 'invoke'}`
  return { request: { ...request, path, headers, body }, rewrite: null }
}

/** CountTokens takes the body of a call as it would be sent, so with the `max_tokens` that a count has no use for. */
function countBody(body: Buffer): Buffer {
  const whole = changeMembers(body, [], { max_tokens: '1' })
  return Buffer.from(JSON.stringify({ input: { invokeModel: { body: whole.toString('base64') } } }))
}

function readCount(body: Buffer): Buffer {
  const count = asPositiveCount(parseObject(body)?.inputTokens)
  return count === null ? body : Buffer.from(JSON.stringify({ input_tokens: count }))
}

/**
 * Signature Version 4 with an access key. Signed is only what says where the call goes and what it holds: whatever lies
 * between may touch other headers.
 */
async function sign(request: OutboundRequest, document: JsonObject, region: string): Promise<OutboundRequest> {
  const { SignatureV4, Sha256 } = await import('./signature.ts')
  const token = textOf(document, 'session_token')
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    sha256: Sha256,
    credentials: {
      accessKeyId: textOf(document, 'access_key_id'),
      secretAccessKey: textOf(document, 'secret_access_key'),
      ...(token === '' ? {} : { sessionToken: token }),
    },
  })
  const [path = '', search = ''] = request.path.split(/\?(.*)/s)
  const { protocol, hostname, host } = new URL(request.origin)
  const signed = await signer.sign({
    method: request.method,
    protocol,
    hostname,
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: { host },
    body: bytesOf(request.body),
  })
  return { ...request, headers: [...request.headers, ...Object.entries(signed.headers).flat()] }
}
