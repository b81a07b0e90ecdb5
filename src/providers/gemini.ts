import { asPositiveCount, asString, type JsonObject } from '../core/json/json-value.ts'
import type { ListedProviderModel, Meaning, ProviderError, ProviderKind } from './contract.ts'
import { egressSettings } from './egress.ts'
import { joinBaseUrl, replacePath, splitBaseUrl } from './wire/base-url.ts'
import { readModelList } from './wire/check-reading.ts'
import { geminiRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

export const gemini: ProviderKind = {
  kind: 'gemini',
  title: 'Google Gemini',
  description: 'Gemini models, in the generateContent format',
  lanes: ['gemini'],
  formats: ['generate'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  credential: 'required',
  settings: egressSettings,
  imports: { names: ['gemini', 'google'], keyVariable: 'GEMINI_API_KEY', models: /^gemini-/ },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers: (_provider, _lane, credential) => (credential ? [['x-goog-api-key', credential.reveal()]] : []),
  classify: (head, error) => classifyStatus(head, error, readGeminiError),
  scrub: (body) => scrubWith(geminiRules, body),
  check: {
    method: 'GET',
    path: '/v1beta/models?pageSize=1000',
    read: (status, body) => readModelList(status, body, 'models', readModel),
    otherSpelling,
  },
  transport: null,
  unsupported: () => [],
}

/** Google says 400, not 401, to a key that it does not know (wire/errors.md section 3). */
function readGeminiError(status: number, error: ProviderError): Meaning | null {
  return status === 400 && error.reason === 'API_KEY_INVALID' ? { verdict: 'credential-rejected' } : null
}

function readModel(entry: JsonObject): ListedProviderModel | null {
  const name = asString(entry.name).replace(/^models\//, '')
  return name
    ? {
        name,
        contextTokens: asPositiveCount(entry.inputTokenLimit),
        outputTokens: asPositiveCount(entry.outputTokenLimit),
      }
    : null
}

/** The SDK appends the version itself. */
function otherSpelling(baseUrl: string): string | null {
  const base = splitBaseUrl(baseUrl)
  const bare = base.path.replace(/(\/v1(beta|alpha)?)+(\/models|\/openai)?$/, '')
  return bare === base.path ? null : replacePath(base, bare)
}
