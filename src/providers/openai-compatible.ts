import type { ProviderKind, ProviderSettings } from './contract.ts'
import { egressSettings } from './egress.ts'
import type { Preset } from './presets.ts'
import { joinBaseUrl } from './wire/base-url.ts'
import { chatOnly, openaiCheck, openaiFormats, preferResponses, readOpenaiError } from './wire/openai-format.ts'
import { openaiRules, scrubWith } from './wire/scrub.ts'
import { classifyStatus } from './wire/status.ts'

/** Any server with OpenAI's API. All that differs between vendors is their row in `presets.ts`. */
export function makeOpenaiCompatible(rows: readonly Preset[]): ProviderKind {
  const byName = new Map(rows.map((preset) => [preset.name, preset]))
  const allExhausted = rows.flatMap((preset) => preset.exhausted)
  const find = ({ preset }: ProviderSettings) => (typeof preset === 'string' ? byName.get(preset) : undefined)
  // A server that no preset names may be any of them.
  const exhaustedWords = (settings: ProviderSettings) => find(settings)?.exhausted ?? allExhausted
  const hasResponses = (preset: unknown, setting: unknown) =>
    typeof setting === 'boolean' ? setting : typeof preset === 'string' && byName.get(preset)?.responses === true
  return {
    kind: 'openai-compatible',
    title: 'OpenAI-compatible server',
    description: 'Any vendor or server with an OpenAI-compatible API',
    lanes: ['openai'],
    formats: ({ preset, responses }) => (hasResponses(preset, responses) ? openaiFormats : chatOnly),
    // Vendors that the presets name (OpenRouter) ask OpenAI in the format that it needs, whatever they are asked in.
    preferredFormat: ({ responses }, model) => (responses === true ? preferResponses(model) : null),
    defaultBaseUrl: '',
    baseUrlFor: (settings) => find(settings)?.baseUrl ?? '',
    credential: 'optional',
    settings: {
      preset: {
        description: 'Known server or vendor, which sets the base URL and what it does not support',
        choices: rows.map(({ name }) => name),
      },
      responses: {
        type: 'boolean',
        description: 'The server has the Responses API (default: as the preset says; else calls of it are translated)',
      },
      logprobs: {
        type: 'boolean',
        description: 'The server gives probabilities of tokens (default: as the preset says; else not)',
      },
      ...egressSettings,
    },
    presets: rows,
    imports: {
      names: ['custom_openai', 'openai_like', 'litellm_proxy', 'llamafile', 'xinference', 'custom-host'],
      needsAddress: true,
    },
    address: ({ baseUrl, settings }, _lane, path) => joinBaseUrl(baseUrl || (find(settings)?.baseUrl ?? ''), path),
    headers: (_provider, _lane, credential) => (credential ? [['authorization', `Bearer ${credential.reveal()}`]] : []),
    classify: (head, error, settings) =>
      classifyStatus(head, error, (status) => readOpenaiError(status, error, exhaustedWords(settings))),
    scrub: (body) => scrubWith(openaiRules, body),
    check: openaiCheck((settings) => find(settings)?.listsModels !== false),
    transport: null,
    unsupported: ({ settings }) => find(settings)?.unsupported ?? [],
    outputLimit: 'max_tokens',
    // Of a server that no preset names nobody knows.
    isUnsupported: (settings, operation) =>
      operation === 'responses.socket' && find(settings)?.responsesSocket === false,
    wantsReasoning: (settings) => find(settings)?.reasoningBack === true,
    takesCacheMarks: (settings) => find(settings)?.cacheControl === true,
    takesReasoningBudget: (settings) => find(settings)?.reasoningBudget === true,
    givesLogprobs: (settings) => (settings.logprobs ?? find(settings)?.logprobs) === true,
    usageConvention: ({ settings }) => ({ reasoningBeside: find(settings)?.reasoningBeside === true }),
  }
}
