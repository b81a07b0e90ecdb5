import type { ProviderKind } from './contract.ts'
import { findPreset, presets } from './presets.ts'
import { wayOutSettings } from './way-out.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { openaiCheck, readOpenaiError } from './wire/openai-format.ts'
import { openaiRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

const exhausted = presets.flatMap((preset) => preset.exhausted)

/** Any server with OpenAI's API. What differs between vendors is their row in `presets.ts`. */
export const openaiCompatible: ProviderKind = {
  kind: 'openai-compatible',
  title: 'OpenAI-compatible server',
  speaks: ['openai'],
  defaultBaseUrl: '',
  usualBaseUrl: (settings) => findPreset(settings)?.baseUrl ?? '',
  credential: 'optional',
  settings: {
    preset: {
      description: 'Known server or vendor, which sets the base URL and what it does not support',
      choices: presets.map(({ name }) => name),
    },
    ...wayOutSettings,
  },
  address: (provider, _lane, path) =>
    joinBaseUrl(provider.baseUrl || (findPreset(provider.settings)?.baseUrl ?? ''), path),
  headers: (_provider, _lane, credential) => (credential ? [['authorization', `Bearer ${credential.reveal()}`]] : []),
  classify: (_lane, answer, body) =>
    classifyStatus(answer, body, (status, error) => readOpenaiError(status, error, exhausted)),
  scrub: (body) => scrubWith(openaiRules, body),
  check: openaiCheck((own) => findPreset(own)?.listsModels !== false),
  transport: null,
  lacks: (provider) => findPreset(provider.settings)?.lacks ?? [],
}
