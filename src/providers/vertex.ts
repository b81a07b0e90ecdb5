import { withToken } from './access-token.ts'
import type { ProviderKind } from './contract.ts'
import { readDocument } from './credential.ts'
import { googleToken } from './vertex/account-token.ts'
import { judgeExternalAccount } from './vertex/judge-external-account.ts'
import { readPublisherModels } from './vertex/models.ts'
import { adaptVertex } from './vertex/request.ts'
import { wayOutSettings } from './way-out.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { scrubWith, vertexRules } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

/**
 * Google's and Anthropic's models on Vertex AI: the Gemini lane calls the first, the Anthropic lane the second. Source: the
 * vendor's reference, and Anthropic's vertex-sdk.
 */
export const vertex: ProviderKind = {
  kind: 'vertex',
  title: 'Google Vertex AI',
  speaks: ['gemini', 'anthropic'],
  serves: ['generate', 'count_tokens', 'messages'],
  defaultBaseUrl: 'https://{location}-aiplatform.googleapis.com',
  usualBaseUrl: ({ location }) => (typeof location === 'string' ? hostOf(location) : ''),
  credential: 'required',
  documents: [
    { title: 'service account key', members: ['client_email', 'private_key'] },
    {
      title: 'workload identity configuration',
      type: 'external_account',
      members: ['audience', 'subject_token_type', 'token_url'],
      judge: judgeExternalAccount,
    },
    { title: "choice of the machine's own service account", type: 'gce_metadata', members: ['type'] },
  ],
  word: false,
  settings: {
    project: { description: 'Project of the models (default: the project in the credential)' },
    location: {
      description: 'Location of the models: a region such as europe-west4, `us`, `eu` or `global`',
      required: true,
    },
    ...wayOutSettings,
  },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: () => [],
  classify: (_lane, answer, body) => classifyStatus(answer, body),
  scrub: (body) => scrubWith(vertexRules, body),
  check: {
    method: 'GET',
    path: '/v1beta1/publishers/google/models?pageSize=300',
    read: (status, body) => readPublisherModels(status, body),
    otherSpelling: () => null,
  },
  transport: null,
  lacks: () => [],
  through(transport, call) {
    const document = call.credential && readDocument(call.credential)
    const open =
      document === null
        ? transport
        : withToken(transport, googleToken(document, call.provider, call.lane), call.operation === 'check')
    return { send: (request, sink) => adaptVertex(open, request, sink, call, document) }
  },
}

function hostOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  const region = location === 'us' || location === 'eu' ? `aiplatform.${location}.rep` : `${location}-aiplatform`
  return `https://${region}.googleapis.com`
}
