import type { FormatName } from '../core/format.ts'

/** Where a client of each format writes a setting: the names under which its loss is reported. '': the format has no place for it. */
const paths = {
  turns: { chat: 'messages', responses: 'input', messages: 'messages', generate: 'contents' },
  maxOutput: {
    chat: 'max_completion_tokens',
    responses: 'max_output_tokens',
    messages: 'max_tokens',
    generate: 'generationConfig.maxOutputTokens',
  },
  temperature: {
    chat: 'temperature',
    responses: 'temperature',
    messages: 'temperature',
    generate: 'generationConfig.temperature',
  },
  topP: { chat: 'top_p', responses: 'top_p', messages: 'top_p', generate: 'generationConfig.topP' },
  topK: { chat: '', responses: '', messages: 'top_k', generate: 'generationConfig.topK' },
  frequencyPenalty: {
    chat: 'frequency_penalty',
    responses: '',
    messages: '',
    generate: 'generationConfig.frequencyPenalty',
  },
  presencePenalty: {
    chat: 'presence_penalty',
    responses: '',
    messages: '',
    generate: 'generationConfig.presencePenalty',
  },
  seed: { chat: 'seed', responses: '', messages: '', generate: 'generationConfig.seed' },
  stop: { chat: 'stop', responses: '', messages: 'stop_sequences', generate: 'generationConfig.stopSequences' },
  endUser: { chat: 'safety_identifier', responses: 'safety_identifier', messages: 'metadata.user_id', generate: '' },
  serviceTier: { chat: 'service_tier', responses: 'service_tier', messages: 'service_tier', generate: 'serviceTier' },
  verbosity: { chat: 'verbosity', responses: 'text.verbosity', messages: '', generate: '' },
  parallelCalls: {
    chat: 'parallel_tool_calls',
    responses: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
    generate: '',
  },
  /** The setting for visible reasoning. */
  shownReasoning: {
    chat: '',
    responses: 'reasoning.summary',
    messages: 'thinking.display',
    generate: 'generationConfig.thinkingConfig.includeThoughts',
  },
  /** For reasoning, in tokens. */
  budget: {
    chat: '',
    responses: '',
    messages: 'thinking.budget_tokens',
    generate: 'generationConfig.thinkingConfig.thinkingBudget',
  },
  /** Below the part that it marks. */
  cacheMark: {
    chat: 'prompt_cache_breakpoint',
    responses: 'prompt_cache_breakpoint',
    messages: 'cache_control',
    generate: '',
  },
} satisfies Record<string, Record<FormatName, string>>

/** Why no provider is asked if all turns are empty. */
export const nothingAsked = 'it has no message with anything in it'

export function settingPath(format: FormatName, setting: keyof typeof paths): string {
  return paths[setting][format]
}

/** The cache mark of the part or tool at `path`. */
export function cacheMarkPath(format: FormatName, path: string): string {
  return `${path}.${paths.cacheMark[format]}`
}

/** Where a client says that a tool failed, for the result at `path`. */
export function failurePath(format: FormatName, path: string): string {
  return format === 'generate' ? `${path}.functionResponse.response` : `${path}.is_error`
}

/** The resolution of the image at `path`. */
export function detailPath(format: FormatName, path: string): string {
  return format === 'chat' ? `${path}.image_url.detail` : `${path}.detail`
}
