import { withToken } from './access-token.ts'
import { entraToken } from './azure/entra-token.ts'
import type { CallContext, ProviderKind, ProviderTarget, Transport } from './contract.ts'
import { readDocument } from './credential.ts'
import { wayOutSettings } from './way-out.ts'
import { joinBaseUrl, splitBaseUrl } from './wire/base-url.ts'
import { checkPassed } from './wire/check-reading.ts'
import { openaiCheck, readOpenaiError } from './wire/openai-format.ts'
import { azureRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

/**
 * Azure OpenAI in both its forms: the v1 API, where the body's `model` is the deployment, and dated API versions, where
 * the deployment stands in the path. Source: the vendor's API version lifecycle, and openai-node's AzureOpenAI.
 */
export const azureOpenai: ProviderKind = {
  kind: 'azure-openai',
  title: 'Azure OpenAI',
  speaks: ['openai'],
  defaultBaseUrl: '',
  credential: 'required',
  documents: [{ title: "service principal's secret", members: ['tenant_id', 'client_id', 'client_secret'] }],
  settings: {
    api_version: {
      description:
        'API version: a date such as 2024-10-21 (calls deployments by path), or `preview` (default: the v1 API)',
    },
    ...wayOutSettings,
  },
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
    credential && readDocument(credential) === null ? [['api-key', credential.reveal()]] : [],
  classify: (_lane, answer, body) => classifyStatus(answer, body, (status, error) => readOpenaiError(status, error)),
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
  lacks: () => [],
  through(transport, call) {
    const placed = isDated(call.provider) && call.model !== '' ? inDeployment(transport, call) : transport
    const document = call.credential && readDocument(call.credential)
    return document ? withToken(placed, entraToken(document), call.operation === 'check') : placed
  },
}

/** A dated API version; `preview` and `latest` belong to the v1 API. */
function isDated({ settings }: ProviderTarget): boolean {
  return typeof settings.api_version === 'string' && /^\d/.test(settings.api_version)
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

function inDeployment(transport: Transport, { model, note }: CallContext): Transport {
  return {
    send(request, sink) {
      const [before = '', rest = ''] = request.path.split(/\/openai(?=\/)(.*)/s)
      if (!deployed.has(rest.split('?')[0] ?? '')) return transport.send(request, sink)
      note('The deployment was put into the path (dated API version).')
      return transport.send(
        { ...request, path: `${before}/openai/deployments/${encodeURIComponent(model)}${rest}` },
        sink,
      )
    },
  }
}
