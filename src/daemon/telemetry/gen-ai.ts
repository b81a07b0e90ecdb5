import type { TokenUsage } from '../../core/record.ts'

/**
 * The names of OpenTelemetry's semantic conventions for generative AI, version 1.41 (status: development), in one place, since
 * they may still change.
 */

/** Operations that the conventions have a name for; others go by the gateway's own. */
const operations: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  generate: 'generate_content',
  completions: 'text_completion',
  complete: 'text_completion',
  embeddings: 'embeddings',
  embed: 'embeddings',
}

export function operationName(operation: string): string {
  return operations[operation] ?? operation
}

/** Providers that the conventions have another name for than the gateway. */
const providers: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  'azure-openai': 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/** `kind` or the preset of a compatible one. */
export function providerName(vendor: string): string {
  return providers[vendor] ?? vendor
}

/** Cached tokens are among the input and reasoning among the output, in the conventions as in the record. */
export function usageAttributes(tokens: TokenUsage | null): Record<string, number | null> {
  if (tokens === null) return {}
  return {
    'gen_ai.usage.input_tokens': tokens.input,
    'gen_ai.usage.output_tokens': tokens.output,
    'gen_ai.usage.cache_read.input_tokens': tokens.cache_read || null,
    'gen_ai.usage.cache_creation.input_tokens': tokens.cache_write || null,
    'gen_ai.usage.reasoning.output_tokens': tokens.reasoning || null,
  }
}
