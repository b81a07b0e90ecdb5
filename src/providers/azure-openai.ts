import type { JsonObject } from '../core/json/json-value.ts'
import { askForToken, readAddress, type TokenSource, withToken } from './access-token.ts'
import type { CallContext, ProviderKind, ProviderTarget, Transport } from './contract.ts'
import { readJsonCredential, textOf } from './credential.ts'
import { egressSettings } from './egress.ts'
import { joinBaseUrl, splitBaseUrl } from './wire/base-url.ts'
import { checkPassed } from './wire/check-reading.ts'
import { chatOnly, openaiCheck, openaiFormats, preferResponses, readOpenaiError } from './wire/openai-format.ts'
import { azureRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

/**
 * Azure OpenAI in both its forms: the v1 API, where the body's `model` is the deployment, and dated API versions, where
 * the deployment stands in the path. Source: the vendor's API version lifecycle, and openai-node's AzureOpenAI.
 */
export const azureOpenai: ProviderKind = {
  kind: 'azure-openai',
  title: 'Azure OpenAI',
  description: 'Azure deployments, with an API key or service principal',
  lanes: ['openai'],
  formats: ({ api_version: version }) => (hasNoResponses(version) ? chatOnly : openaiFormats),
  preferredFormat: (_, model) => preferResponses(model),
  defaultBaseUrl: '',
  credential: 'required',
  jsonCredentials: [{ title: "service principal's secret", members: ['tenant_id', 'client_id', 'client_secret'] }],
  settings: {
    api_version: {
      description:
        'API version: a date such as 2024-10-21 (calls deployments by path), or `preview` (default: the v1 API)',
    },
    ...egressSettings,
  },
  imports: { names: ['azure', 'azure_text', 'azure-openai'] },
  address: (provider, _lane, path) => {
    const { origin, path: full } = joinBaseUrl(
      rootOf(provider.baseUrl),
      (isDated(provider) ? '/openai' : '/openai/v1') + path,
    )
    const version = provider.settings.api_version
    if (typeof version !== 'string') return { origin, path: full }
    return { origin, path: `${full}${full.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version)}` }
  },
  headers: (_provider, _lane, credential) =>
    credential && readJsonCredential(credential) === null ? [['api-key', credential.reveal()]] : [],
  classify: (head, error) => classifyStatus(head, error, (status) => readOpenaiError(status, error)),
  scrub: (body) => scrubWith(azureRules, body),
  check: {
    ...openaiCheck(() => true),
    read(status, body, provider) {
      const result = openaiCheck(() => true).read(status, body, provider)
      // What it lists is what could be deployed; names of deployments only its management API knows.
      return result.ok
        ? checkPassed(
            [],
            'The resource accepted the credential. It does not list its deployments: name them in routes.',
          )
        : result
    },
    otherSpelling: () => null,
  },
  transport: null,
  unsupported: () => [],
  wrapTransport(transport, call) {
    const placed = isDated(call.provider) && call.model !== '' ? inDeployment(transport, call) : transport
    const document = call.credential && readJsonCredential(call.credential)
    return document ? withToken(placed, entraToken(document), call.operation === 'check') : placed
  },
}

/** A dated API version; `preview` and `latest` belong to the v1 API. */
function isDated({ settings }: ProviderTarget): boolean {
  return typeof settings.api_version === 'string' && /^\d/.test(settings.api_version)
}

/** "Responses API is enabled only for api-version 2025-03-01-preview and later". */
function hasNoResponses(version: unknown): boolean {
  return typeof version === 'string' && version < '2025-03-01'
}

/** People give the resource's address, or what OpenAI's SDK would be given. */
function rootOf(baseUrl: string): string {
  const base = splitBaseUrl(baseUrl)
  return base.origin + base.path.replace(/\/openai(\/v1)?$/, '') + (base.query === '' ? '' : `?${base.query}`)
}

/** Operations that a dated version serves below the deployment; all others lie beside it. */
const deployed = new Set([
  '/chat/completions',
  '/completions',
  '/embeddings',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/images/generations',
  '/images/edits',
])

function inDeployment(transport: Transport, { model, recordChange }: CallContext): Transport {
  return {
    send(request, sink) {
      const [before = '', rest = ''] = request.path.split(/\/openai(?=\/)(.*)/s)
      if (!deployed.has(rest.split('?')[0] ?? '')) return transport.send(request, sink)
      recordChange('The deployment was put into the path (dated API version).')
      return transport.send(
        { ...request, path: `${before}/openai/deployments/${encodeURIComponent(model)}${rest}` },
        sink,
      )
    },
  }
}

const publicAuthority = 'https://login.microsoftonline.com'
const publicScope = 'https://cognitiveservices.azure.com/.default'

/**
 * Client credentials of a service principal at Entra ID. Other clouds than the public one name theirs in the document:
 * `authority` and `scope`. They stand beside the secret, since that goes where they say.
 */
export function entraToken(document: JsonObject): TokenSource {
  const text = (member: string) => textOf(document, member)
  const authority = text('authority') || publicAuthority
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: text('client_id'),
    client_secret: text('client_secret'),
    scope: text('scope') || publicScope,
  }).toString()
  const tenant = encodeURIComponent(text('tenant_id'))
  return {
    key: `${authority} ${tenant} ${form}`,
    issue: async (ask) =>
      askForToken(ask, {
        method: 'POST',
        ...readAddress(authority, `/${tenant}/oauth2/v2.0/token`),
        headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
        body: Buffer.from(form),
        connectMs: 5000,
      }),
    rejection: (reason) => {
      const error = {
        message: `Entra ID refused the service principal (${reason}).`,
        type: 'invalid_request_error',
        code: '401',
      }
      return { headers: ['content-type', 'application/json'], body: Buffer.from(JSON.stringify({ error })) }
    },
  }
}
