import { asObject } from '../core/json/json-value.ts'
import { numberOf } from './json.ts'
import { RequestError } from './request-fault.ts'

/**
 * The JSON type of a member, by its name. Others are checked where they are read, or passed on unchecked. `t`: text, `n`: number, `b`:
 * boolean, `o`: object, `T`, `O`: lists of these.
 */
const names = {
  t:
    'arguments data description detail display displayName document_name encrypted_content file_data file_id file_url fileUri filename ' +
    'generate_summary id input instructions level media_type mimeType mode name namespace prompt_cache_key reasoning_content refusal responseMimeType ' +
    'role safety_identifier search_context_size serviceTier service_tier signature summary text thinkingLevel thoughtSignature title type ' +
    'url user user_id verbosity',
  b: 'disable_parallel_tool_use enabled include_usage is_error parallel_tool_calls responseLogprobs store stream strict thought',
  n: 'budget_tokens max_tokens max_tool_calls max_uses top_logprobs',
  o:
    'args cache_control extra_content fileData filters format functionCallingConfig generationConfig googleSearch googleSearchRetrieval ' +
    'inlineData input_audio input_schema json_schema metadata output_config output_format parameters parametersJsonSchema ' +
    'prompt_cache_breakpoint reasoning responseJsonSchema responseSchema response_format schema stream_options thinking thinkingConfig ' +
    'toolConfig user_location web_search_options',
  O: 'functions messages tool_calls tools',
  T: 'allowedFunctionNames allowed_domains blocked_domains excludeDomains include stop_sequences',
  tO: 'content output',
  to: 'function_call image_url source systemInstruction tool_choice',
  tT: 'stop stopSequences',
  oO: 'contents functionDeclarations parts',
}
const types = new Map(
  Object.entries(names).flatMap(([type, all]) => all.split(' ').map((name) => [name, type] as const)),
)

/** '': any type. */
export function typeOfName(name: string): string {
  return types.get(name) ?? ''
}

const words: Readonly<Record<string, string>> = {
  t: 'text',
  n: 'a number',
  b: 'a boolean',
  o: 'an object',
  T: 'a list',
  O: 'a list',
}

/** Throws for a value of another type: it must not be treated as if it had been left out. */
export function checkType(value: unknown, type: string, path: () => string): void {
  if (value === null || value === undefined) return
  if (Array.isArray(value)) {
    const element = type.includes('O') ? 'o' : type.includes('T') ? 't' : null
    if (element !== null) {
      // A list of messages has holes where plain turns are.
      for (const [index, one] of value.entries())
        if (one !== undefined && kindOf(one) !== element) fail(element, `${path()}[${index}]`)
      return
    }
  } else if (type.includes(kindOf(value))) return
  fail(type, path())
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 't'
  if (typeof value === 'boolean') return 'b'
  if (numberOf(value) !== null) return 'n'
  return asObject(value) === null ? '-' : 'o'
}

function fail(type: string, path: string): never {
  const [first = '', other] = [...type].map((one) => words[one] ?? '')
  throw new RequestError(path, `is ${other === undefined ? `not ${first}` : `neither ${first} nor ${other}`}`)
}
