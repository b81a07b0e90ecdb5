import { Sha256 } from '@aws-crypto/sha256-js'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { SignatureV4 } from '@smithy/signature-v4'
import { mockAnthropic } from './mock-anthropic.ts'
import {
  type MockAnswer,
  type MockCall,
  type MockFormat,
  type MockUsage,
  parseObject,
  wholeAnswer,
} from './mock-format.ts'

export const accessKey = {
  access_key_id: 'AKIAMOCKMOCKMOCK1234',
  secret_access_key: 'mock/secret/access+key/0123456789abcdef',
  session_token: 'mock-session-token//with=signs',
}
export const bedrockKey = 'ABSKmockbedrockapikey0001'
export const region = 'eu-central-1'

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString()),
  (text) => Buffer.from(text),
)
const signer = new SignatureV4({
  service: 'bedrock',
  region,
  sha256: Sha256,
  credentials: {
    accessKeyId: accessKey.access_key_id,
    secretAccessKey: accessKey.secret_access_key,
    sessionToken: accessKey.session_token,
  },
})

/** A strict Bedrock: computes every signature anew, takes bodies as InvokeModel has them, and frames streams as it does. */
export const mockBedrock: MockFormat = {
  name: 'anthropic',
  basePath: '',
  foreignHeaders: ['x-api-key', 'api-key', 'x-goog-api-key', 'anthropic-version', 'anthropic-beta'],
  async refuse(call) {
    const given = call.headers.get('authorization') ?? ''
    if (given === '') return refusal(call, 403, 'MissingAuthenticationTokenException', 'Missing Authentication Token')
    if (given === `Bearer ${bedrockKey}`) return null
    if (!given.includes(`Credential=${accessKey.access_key_id}/`))
      return refusal(call, 403, 'UnrecognizedClientException', 'The security token included in the request is invalid.')
    if (given === (await sign(call))) return null
    const words = 'The request signature we calculated does not match the signature you provided.'
    return refusal(call, 403, 'InvalidSignatureException', words)
  },
  answer(call, usage) {
    if (call.method === 'GET' && call.path === '/foundation-models') {
      const modelSummaries = models.map((modelId) => ({ modelId, providerName: 'Anthropic' }))
      return json(call, 200, { modelSummaries })
    }
    const [, name, verb] = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream|count-tokens)$/.exec(call.path) ?? []
    if (call.method !== 'POST' || name === undefined || verb === undefined)
      return refusal(call, 404, 'UnknownOperationException', 'Unknown operation')
    const model = decodeURIComponent(name)
    if (!models.includes(model))
      return refusal(call, 400, 'ValidationException', 'The provided model identifier is invalid.')
    return verb === 'count-tokens' ? count(call, usage, model) : invoke(call, usage, model, verb !== 'invoke')
  },
  error: (status, message) => json(null, status, { message }, errors[status]),
  streamError: (message) =>
    frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, { message }),
}

const models = [
  'anthropic.claude-opus-5-5-v1:0',
  'anthropic.claude-sonnet-4-5-20250929-v1:0',
  'eu.anthropic.claude-haiku-5-v1:0',
  'bedrock-model',
]

const errors: Record<number, string> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** The signature that the call should have, made of what came over the wire. */
async function sign(call: MockCall): Promise<string> {
  const stamp = call.headers.get('x-amz-date') ?? ''
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(stamp) ?? []
  const signingDate = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  if (call.headers.get('x-amz-security-token') !== accessKey.session_token) return 'without its session token'
  const host = call.headers.get('host') ?? ''
  const signed = await signer.sign(
    {
      method: call.method,
      protocol: 'http:',
      hostname: host.split(':')[0] ?? '',
      path: call.path,
      query: Object.fromEntries(call.query),
      headers: { host },
      body: call.body,
    },
    { signingDate },
  )
  return signed.headers.authorization ?? ''
}

function readBody(call: MockCall, bytes: Buffer): Record<string, unknown> | MockAnswer {
  const wrong = (message: string) => refusal(call, 400, 'ValidationException', message)
  const body = parseObject(bytes)
  if (body === null) return wrong('Malformed input request, please reformat your input and try again.')
  if (body.anthropic_version !== 'bedrock-2023-05-31') return wrong('Invalid API version')
  for (const name of ['model', 'stream']) if (name in body) return wrong(`${name}: Extra inputs are not permitted`)
  if (typeof body.max_tokens !== 'number') return wrong('max_tokens: Field required')
  const { anthropic_beta: beta } = body
  if (beta !== undefined && !(Array.isArray(beta) && beta.every((each) => typeof each === 'string')))
    return wrong('anthropic_beta: Input should be a valid list')
  return body
}

function invoke(call: MockCall, usage: MockUsage, model: string, streamed: boolean): MockAnswer {
  const body = readBody(call, call.body)
  if (Array.isArray(body.parts)) return body as unknown as MockAnswer
  const { anthropic_version: _, anthropic_beta: __, ...rest } = body as Record<string, unknown>
  const inner = Buffer.from(JSON.stringify({ ...rest, model, stream: streamed }))
  const answer = mockAnthropic.answer({ ...call, path: '/v1/messages', body: inner }, usage)
  if (!answer.streamed) return { ...answer, headers: headers(call, 'application/json') }
  return {
    ...answer,
    headers: headers(call, 'application/vnd.amazon.eventstream'),
    parts: answer.parts.map(frameEvent),
  }
}

function count(call: MockCall, usage: MockUsage, model: string): MockAnswer {
  const input = parseObject(call.body)?.input as { invokeModel?: { body?: string } } | undefined
  if (typeof input?.invokeModel?.body !== 'string')
    return refusal(call, 400, 'ValidationException', 'input is required')
  if (model.startsWith('eu.'))
    return refusal(call, 400, 'ValidationException', "The provided model doesn't support counting tokens.")
  const body = readBody(call, Buffer.from(input.invokeModel.body, 'base64'))
  return Array.isArray(body.parts) ? (body as unknown as MockAnswer) : json(call, 200, { inputTokens: usage.input })
}

/** Bedrock's own figures stand in the last event, and padding in each message. */
function frameEvent(event: Buffer, index: number): Buffer {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1] ?? ''
  const metrics = { inputTokenCount: 1, outputTokenCount: 2, invocationLatency: 3, firstByteLatency: 1 }
  const whole = data.startsWith('{"type":"message_stop"')
    ? JSON.stringify({ ...JSON.parse(data), 'amazon-bedrock-invocationMetrics': metrics })
    : data
  const body = { bytes: Buffer.from(whole).toString('base64'), p: 'abcdefghijk'.slice(0, index % 11) }
  return frame({ ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' }, body)
}

export function frame(names: Record<string, string>, body: unknown): Buffer {
  const headers = Object.fromEntries(
    Object.entries(names).map(([name, value]) => [name, { type: 'string' as const, value }]),
  )
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) }))
}

function refusal(call: MockCall, status: number, type: string, message: string): MockAnswer {
  return json(call, status, { message }, type)
}

function json(call: MockCall | null, status: number, body: unknown, type?: string): MockAnswer {
  const more: [string, string][] = type === undefined ? [] : [['x-amzn-ErrorType', type]]
  return wholeAnswer(status, [...headers(call, 'application/json'), ...more], JSON.stringify(body))
}

function headers(call: MockCall | null, contentType: string): [string, string][] {
  return [
    ['Content-Type', contentType],
    ['x-amzn-RequestId', `amzn-${call?.number ?? 0}`],
    ['X-Amzn-Bedrock-Input-Token-Count', '1'],
  ]
}
