import { asString, parseObject } from '../core/json/json-value.ts'
import { prepareCall } from './bedrock/prepare.ts'
import type { AnswerHead, CheckResult, Meaning, ProviderError, ProviderKind } from './contract.ts'
import { readJsonCredential } from './credential.ts'
import { sendDeferred } from './deferred-sending.ts'
import { egressSettings } from './egress.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { checkFailed, checkPassed, readModelList } from './wire/check-reading.ts'
import { bedrockRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

/**
 * Anthropic's models on Amazon Bedrock: InvokeModel, InvokeModelWithResponseStream and CountTokens, each in the Anthropic
 * lane's own shapes. Source: the vendor's API reference, and Anthropic's bedrock-sdk.
 */
export const bedrock: ProviderKind = {
  kind: 'bedrock',
  title: 'Amazon Bedrock (Anthropic models)',
  description: 'Anthropic models on AWS, with an access key or Bedrock API key',
  lanes: ['anthropic'],
  formats: ['messages'],
  serves: ['messages', 'count_tokens'],
  defaultBaseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  baseUrlFor: ({ region }) =>
    typeof region !== 'string'
      ? ''
      : `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
  credential: 'required',
  jsonCredentials: [{ title: 'access key', members: ['access_key_id', 'secret_access_key'] }],
  settings: {
    region: { description: 'Region to call and to sign calls for', required: true },
    ...egressSettings,
  },
  imports: {
    names: ['bedrock'],
    serves: { models: /(^|[.:/])anthropic\.|^arn:|^\*$/, vendors: "Anthropic's" },
  },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: (_provider, _lane, credential) =>
    credential && readJsonCredential(credential) === null ? [['authorization', `Bearer ${credential.reveal()}`]] : [],
  classify: (head, error) => classifyBedrock(head, error),
  scrub: (body) => scrubWith(bedrockRules, body),
  check: {
    method: 'GET',
    path: '/foundation-models?byProvider=anthropic',
    read: (status, body) => readFoundationModels(status, body),
    otherSpelling: () => null,
  },
  transport: null,
  unsupported: () => [],
  wrapTransport: (transport, call) => ({
    send: (request, sink) => sendDeferred(transport, sink, prepareCall(request, sink, call)),
  }),
}

/** What is certain about the credential; any other 403 may be about the one model. */
const refused = new Set([
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'IncompleteSignatureException',
  'MissingAuthenticationTokenException',
])

/** The exception's name stands in a header, behind it sometimes the address of its model. */
function classifyBedrock(head: AnswerHead, error: ProviderError): Meaning {
  const type = (head.headers.get('x-amzn-errortype') ?? '').split(':')[0] ?? ''
  return classifyStatus(head, error, (status) => {
    if (refused.has(type)) return { verdict: 'credential-rejected' }
    // ModelErrorException: the model itself failed, not the request.
    return status === 424 ? { verdict: 'retry', retryAfterMs: null } : null
  })
}

/** ListFoundationModels. A caller that may not list is told from one that is not let in by the words alone. */
function readFoundationModels(status: number, body: Buffer): CheckResult {
  const whole = parseObject(body)
  const message = asString(whole?.message) || asString(whole?.Message)
  if (status === 403 && /not authorized to perform/i.test(message)) {
    return checkPassed([], 'Bedrock knows the credential, but it may not list models; name them in routes.')
  }
  if (status === 403) {
    const why = /expired/i.test(message) ? 'it has expired' : 'check key, secret and region'
    return checkFailed('credential_rejected', `Bedrock refused the credential: ${why}.`)
  }
  return readModelList(status, body, 'modelSummaries', (entry) => {
    const name = asString(entry.modelId)
    return name === '' ? null : { name, contextTokens: null, outputTokens: null }
  })
}
