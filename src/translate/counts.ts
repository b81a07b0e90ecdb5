import type { FormatName } from '../core/format.ts'
import { asObject, type JsonObject } from '../core/json/json-value.ts'
import { countOf } from './json.ts'

/** The members of a request that the format's call for counting tokens accepts. Chat has no such call. */
const counted: Readonly<Record<FormatName, readonly string[]>> = {
  chat: [],
  responses: ['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text'],
  messages: ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'cache_control'],
  generate: ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'],
}

/** A request in the form for counting its tokens. `wrapped`: Gemini's own API wants it inside another object. */
export function writeCountRequest(
  format: FormatName,
  request: JsonObject,
  wrapped: { model: string } | null,
): JsonObject {
  const names = counted[format]
  const body = Object.fromEntries(Object.entries(request).filter(([name]) => names.includes(name)))
  return wrapped === null ? body : { generateContentRequest: { model: `models/${wrapped.model}`, ...body } }
}

/** The request whose tokens are to be counted. */
export function readCountRequest(format: FormatName, body: JsonObject): JsonObject {
  const inner =
    format === 'generate' ? (asObject(body.generateContentRequest) ?? asObject(body.generate_content_request)) : null
  return inner ?? body
}

/** Null: the answer contains no count. */
export function readCount(format: FormatName, answer: JsonObject): number | null {
  return countOf(format === 'generate' ? answer.totalTokens : answer.input_tokens)
}

export function writeCount(format: FormatName, tokens: number): JsonObject {
  if (format === 'generate') return { totalTokens: tokens }
  return format === 'messages' ? { input_tokens: tokens } : { object: 'response.input_tokens', input_tokens: tokens }
}
