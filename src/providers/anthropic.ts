import { asPositiveCount, type JsonObject } from '../core/json/json-value.ts'
import type { ListedProviderModel, Meaning, ProviderError, ProviderKind } from './contract.ts'
import { egressSettings } from './egress.ts'
import { joinBaseUrl, replacePath, splitBaseUrl } from './wire/base-url.ts'
import { readModelList, readName } from './wire/check-reading.ts'
import { anthropicRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

export const anthropic: ProviderKind = {
  kind: 'anthropic',
  title: 'Anthropic',
  description: 'Claude models, in the Messages format',
  lanes: ['anthropic'],
  formats: ['messages'],
  defaultBaseUrl: 'https://api.anthropic.com',
  credential: 'required',
  settings: egressSettings,
  imports: { names: ['anthropic'], keyVariable: 'ANTHROPIC_API_KEY', models: /^claude-/ },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: (_provider, _lane, credential) => (credential ? [['x-api-key', credential.reveal()]] : []),
  // Without one the provider answers 400; the client's own version is never touched (product.md section 2).
  defaults: [['anthropic-version', '2023-06-01']],
  classify: (head, error) => classifyStatus(head, error, readAnthropicError),
  scrub: (body) => scrubWith(anthropicRules, body),
  check: {
    method: 'GET',
    path: '/v1/models?limit=1000',
    read: (status, body) => readModelList(status, body, 'data', readModel),
    otherSpelling,
  },
  transport: null,
  unsupported: () => [],
}

/** An account without credit is told as the caller's own mistake. */
function readAnthropicError(status: number, error: ProviderError): Meaning | null {
  return status === 400 && /credit balance is too low/i.test(error.message) ? { verdict: 'quota-exhausted' } : null
}

function readModel(entry: JsonObject): ListedProviderModel | null {
  const name = readName(entry)
  return name
    ? { name, contextTokens: asPositiveCount(entry.max_input_tokens), outputTokens: asPositiveCount(entry.max_tokens) }
    : null
}

/** The SDK appends `/v1/…` itself, so a base URL that ends in it doubles the segment. */
function otherSpelling(baseUrl: string): string | null {
  const base = splitBaseUrl(baseUrl)
  const bare = base.path.replace(/(\/v1)+(\/(messages|models|complete))?$/, '')
  return bare === base.path ? null : replacePath(base, bare)
}
