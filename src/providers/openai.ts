import type { ProviderKind } from './contract.ts'
import { egressSettings } from './egress.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { openaiCheck, openaiFormats, preferResponses, readOpenaiError } from './wire/openai-format.ts'
import { openaiRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

export const openai: ProviderKind = {
  kind: 'openai',
  title: 'OpenAI',
  description: 'GPT and reasoning models, embeddings, moderation',
  lanes: ['openai'],
  formats: openaiFormats,
  preferredFormat: (_, model) => preferResponses(model),
  defaultBaseUrl: 'https://api.openai.com/v1',
  credential: 'required',
  settings: {
    organization: { description: 'Organization to bill calls to' },
    project: { description: 'Project to bill calls to' },
    ...egressSettings,
  },
  imports: {
    names: ['openai', 'text-completion-openai', 'open-ai'],
    keyVariable: 'OPENAI_API_KEY',
    models: /^(gpt-|o[134](-|$)|chatgpt-|text-embedding-|dall-e|whisper|tts-|omni-moderation)/,
  },
  address: (provider, _lane, path) => joinBaseUrl(provider.baseUrl, path),
  headers(provider, _lane, credential) {
    const headers: [string, string][] = []
    if (credential) headers.push(['authorization', `Bearer ${credential.reveal()}`])
    const { organization, project } = provider.settings
    if (typeof organization === 'string') headers.push(['openai-organization', organization])
    if (typeof project === 'string') headers.push(['openai-project', project])
    return headers
  },
  classify: (head, error) => classifyStatus(head, error, (status) => readOpenaiError(status, error)),
  scrub: (body) => scrubWith(openaiRules, body),
  check: openaiCheck(() => true),
  transport: null,
  unsupported: () => [],
}
