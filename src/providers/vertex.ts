import type { FormatName } from '../core/format.ts'
import { asString, type JsonObject } from '../core/json/json-value.ts'
import type { LaneName } from '../core/lane.ts'
import { type TokenSource, withToken } from './access-token.ts'
import type { CheckResult, ProviderKind, ProviderTarget } from './contract.ts'
import { readJsonCredential } from './credential.ts'
import { egressSettings } from './egress.ts'
import { validateExternalAccount } from './vertex/machine-identity.ts'
import { adaptVertex } from './vertex/request.ts'
import { renderAnthropicError } from './wire/anthropic-hosted.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { checkFailed, checkPassed, readModelList } from './wire/check-reading.ts'
import { scrubWith, vertexRules } from './wire/scrub.ts'
import { classifyStatus, readErrorBody } from './wire/status.ts'

/**
 * Google's and Anthropic's models on Vertex AI: the Gemini lane calls the first, the Anthropic lane the second. Source: the
 * vendor's reference, and Anthropic's vertex-sdk.
 */
export const vertex: ProviderKind = {
  kind: 'vertex',
  title: 'Google Vertex AI',
  description: 'Google and Anthropic models, with a service account',
  lanes: ['gemini', 'anthropic'],
  formats: (_settings, model) => formatsOf(model),
  serves: ['generate', 'count_tokens', 'messages'],
  defaultBaseUrl: 'https://{location}-aiplatform.googleapis.com',
  baseUrlFor: ({ location }) => (typeof location === 'string' ? hostOf(location) : ''),
  credential: 'required',
  jsonCredentials: [
    { title: 'service account key', members: ['client_email', 'private_key'] },
    {
      title: 'workload identity configuration',
      type: 'external_account',
      members: ['audience', 'subject_token_type', 'token_url'],
      validate: validateExternalAccount,
    },
    { title: "choice of the machine's own service account", type: 'gce_metadata', members: ['type'] },
  ],
  apiKey: false,
  settings: {
    project: { description: 'Project of the models (default: the project in the credential)' },
    location: {
      description: 'Location of the models: a region such as europe-west4, `us`, `eu` or `global`',
      required: true,
    },
    cloud_resources: {
      description: 'Data stores, RAG corpora, gs://BUCKET/ that requests may name',
    },
    ...egressSettings,
  },
  imports: {
    names: ['vertex_ai', 'vertex_ai_beta', 'vertex-ai'],
    serves: { models: /^(gemini|claude|text-embedding|imagen|veo)|^\*$/, vendors: "Google's and Anthropic's" },
  },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: () => [],
  classify: (head, error) => classifyStatus(head, error),
  scrub: (body) => scrubWith(vertexRules, body),
  check: {
    method: 'GET',
    path: '/v1beta1/publishers/google/models?pageSize=300',
    read: (status, body) => readPublisherModels(status, body),
    otherSpelling: () => null,
  },
  transport: null,
  unsupported: () => [],
  wrapTransport(transport, call) {
    const document = call.credential && readJsonCredential(call.credential)
    const open =
      document === null
        ? transport
        : withToken(transport, googleToken(document, call.provider, call.lane), call.operation === 'check')
    return { send: (request, sink) => adaptVertex(open, request, sink, call, document) }
  },
}

const google: readonly FormatName[] = ['generate']
const anthropic: readonly FormatName[] = ['messages']
const either: readonly FormatName[] = ['generate', 'messages']

/** Each publisher's models have their publisher's format; of a name that tells neither, the call decides. */
function formatsOf(model: string): readonly FormatName[] {
  if (model.startsWith('claude')) return anthropic
  return model.startsWith('gemini') || model.startsWith('gemma') ? google : either
}

function hostOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  const region = location === 'us' || location === 'eu' ? `aiplatform.${location}.rep` : `${location}-aiplatform`
  return `https://${region}.googleapis.com`
}

/** How the gateway's own answer begins when Google rejects a credential. */
const credentialRejected = "Google's credential was refused"

/** Tokens for a stored credential of any of the kinds that Google has. */
function googleToken(document: JsonObject, provider: ProviderTarget, lane: LaneName): TokenSource {
  return {
    key: `google ${provider.baseUrl} ${'authorities' in provider.settings} ${JSON.stringify(provider.settings.proxy)} ${JSON.stringify(document)}`,
    // Loaded with the first issue: it is of use to nobody else.
    issue: async (ask) => (await import('./vertex/google-token.ts')).issueGoogleToken(document, ask, provider),
    rejection(reason) {
      const message = `${credentialRejected} (${reason}).`
      const google = { error: { code: 401, message, status: 'UNAUTHENTICATED' } }
      const body =
        lane === 'anthropic'
          ? renderAnthropicError('authentication_error', message)
          : Buffer.from(JSON.stringify(google))
      return { headers: ['content-type', 'application/json'], body }
    },
  }
}

/** The list of Google's models. A token was bought before it was asked for, so the service account is known whatever it may do. */
function readPublisherModels(status: number, body: Buffer): CheckResult {
  const { reason, message } = readErrorBody(body)
  // The gateway's own words, which say more than that it was refused.
  if (status === 401 && message.startsWith(credentialRejected)) return checkFailed('credential_rejected', message)
  if (status === 403 && reason === 'SERVICE_DISABLED') {
    return checkFailed('unexpected', 'The Vertex AI API is off in the project; enable aiplatform.googleapis.com.')
  }
  if (status === 403 && /publisherModels/i.test(message)) {
    return checkPassed([], 'Google knows the service account, but it may not list models; name them in routes.')
  }
  return readModelList(status, body, 'publisherModels', (entry) => {
    const name = asString(entry.name).replace(/^.*\//, '')
    return name === '' ? null : { name, contextTokens: null, outputTokens: null }
  })
}
