import { classifyBedrock } from './bedrock/meaning.ts'
import { readFoundationModels } from './bedrock/models.ts'
import { prepareCall } from './bedrock/prepare.ts'
import type { ProviderKind } from './contract.ts'
import { readDocument } from './credential.ts'
import { sendLate } from './late-sending.ts'
import { wayOutSettings } from './way-out.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { bedrockRules, scrubWith } from './wire/scrub.ts'

/**
 * Anthropic's models on Amazon Bedrock: InvokeModel, InvokeModelWithResponseStream and CountTokens, each in the Anthropic
 * lane's own shapes. Source: the vendor's API reference, and Anthropic's bedrock-sdk.
 */
export const bedrock: ProviderKind = {
  kind: 'bedrock',
  title: 'Amazon Bedrock (Anthropic models)',
  speaks: ['anthropic'],
  serves: ['messages', 'count_tokens'],
  defaultBaseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
  usualBaseUrl: ({ region }) =>
    typeof region !== 'string'
      ? ''
      : `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`,
  credential: 'required',
  documents: [{ title: 'access key', members: ['access_key_id', 'secret_access_key'] }],
  settings: {
    region: { description: 'Region to call and to sign calls for', required: true },
    ...wayOutSettings,
  },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: (_provider, _lane, credential) =>
    credential && readDocument(credential) === null ? [['authorization', `Bearer ${credential.reveal()}`]] : [],
  classify: (_lane, answer, body) => classifyBedrock(answer, body),
  scrub: (body) => scrubWith(bedrockRules, body),
  check: {
    method: 'GET',
    path: '/foundation-models?byProvider=anthropic',
    read: (status, body) => readFoundationModels(status, body),
    otherSpelling: () => null,
  },
  transport: null,
  lacks: () => [],
  through: (transport, call) => ({
    send: (request, sink) => sendLate(transport, sink, prepareCall(request, sink, call)),
  }),
}
