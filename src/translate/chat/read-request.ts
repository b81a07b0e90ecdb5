import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReadContext } from '../codec.ts'
import type {
  Conversation,
  ConversationSettings,
  OutputFormat,
  ReasoningSettings,
  SeenField,
  Tool,
  ToolChoice,
} from '../conversation.ts'
import { blankSettings } from '../conversation.ts'
import { countOf } from '../json.ts'
import { readAsked } from '../logprobs.ts'
import { limitAt, orFault, RequestError } from '../request-fault.ts'
import { findSeen } from '../seen-fields.ts'
import { chatFields } from './fields.ts'
import { namesWritten } from './names-written.ts'
import { readCacheControl, readTurns } from './read-turns.ts'

export function readChatRequest(body: JsonObject, context: ReadContext) {
  return orFault((): Conversation => {
    const toolChoice = readToolChoice(body)
    const turns = readTurns(body.messages, context)
    return {
      turns,
      tools: [...readTools(body), ...readSearch(body.web_search_options)],
      toolChoice,
      parallelCalls: readParallel(body),
      settings: readSettings(body),
      seen: findSeen(body, chatFields).filter((field) => !isFunctionName(field, body)),
      namesWritten: namesWritten(body, turns),
    }
  })
}

/** The name of a message is lost. The name of a function's result is not: it says which call the result belongs to. */
function isFunctionName({ field, path }: SeenField, body: JsonObject): boolean {
  if (field !== 'messages.name') return false
  const index = Number(/\d+/.exec(path)?.[0])
  return asObject(asArray(body.messages)[index])?.role === 'function'
}

/** A client that declares functions instead of tools can read only one call. */
function readParallel({ parallel_tool_calls, functions }: JsonObject): boolean | null {
  if (typeof parallel_tool_calls === 'boolean') return parallel_tool_calls
  return asArray(functions).length > 0 ? false : null
}

function readSettings(body: JsonObject): ConversationSettings {
  const { stop, metadata } = body
  return {
    ...blankSettings,
    maxOutput: limitAt(body.max_completion_tokens, 'max_completion_tokens') ?? limitAt(body.max_tokens, 'max_tokens'),
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    frequencyPenalty: body.frequency_penalty ?? null,
    presencePenalty: body.presence_penalty ?? null,
    seed: body.seed ?? null,
    stop: (typeof stop === 'string' ? [stop] : asArray(stop)).filter(
      (one): one is string => typeof one === 'string' && one !== '',
    ),
    count: countOf(body.n),
    streamed: body.stream === true,
    streamUsage: asObject(body.stream_options)?.include_usage === true,
    endUser: asText(body.safety_identifier) ?? asText(body.user),
    output: readOutput(body.response_format),
    reasoning: readReasoning(body),
    logprobs: readAsked({
      asked: body.logprobs === true,
      path: 'logprobs',
      top: body.top_logprobs,
      topPath: 'top_logprobs',
    }),
    serviceTier: asText(body.service_tier),
    cacheKey: asText(body.prompt_cache_key),
    verbosity: asText(body.verbosity),
    metadata: asObject(metadata) === null ? null : metadata,
    store: typeof body.store === 'boolean' ? body.store : null,
    carriesReasoning: carriesReasoning(body),
  }
}

/** The client asked for sealed reasoning as in Responses, or has sent some back. */
function carriesReasoning({ include, messages }: JsonObject): boolean {
  return (
    asArray(include).includes('reasoning.encrypted_content') ||
    asArray(messages).some((message) => asObject(asObject(message)?.extra_content) !== null)
  )
}

function readOutput(value: unknown): OutputFormat | null {
  const format = asObject(value)
  const path = 'response_format'
  if (format === null || format.type === 'text') return null
  if (format.type === 'json_object') return { path, kind: 'json', name: null, schema: null, strict: null }
  if (format.type !== 'json_schema') throw new RequestError(`${path}.type`, 'is not a known type')
  const { name, description, schema, strict } = asObject(format.json_schema) ?? {}
  return {
    path,
    kind: 'schema',
    name: asText(name),
    ...(typeof description === 'string' && { description }),
    schema: schema ?? null,
    strict: typeof strict === 'boolean' ? strict : null,
  }
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** Clients of other servers write `reasoning` (OpenRouter, Snowflake) or `thinking` (Z.ai, DeepSeek). */
function readReasoning({ reasoning_effort, reasoning, thinking }: JsonObject): ReasoningSettings | null {
  const [asked, thinks] = [asObject(reasoning), asObject(thinking)]
  // `default` is Groq's word for the default.
  const written = reasoning_effort === 'default' ? null : (reasoning_effort ?? null)
  const wanted = written ?? asked?.effort ?? null
  const effort = efforts.find((one) => one === wanted) ?? null
  const path = written !== null ? 'reasoning_effort' : asked !== null ? 'reasoning' : 'thinking'
  if (wanted !== effort) {
    const at = written !== null ? path : 'reasoning.effort'
    throw new RequestError(at, 'is not a known effort')
  }
  if (thinks !== null && !/^(?:enabled|disabled|adaptive|auto|)$/.test(asString(thinks.type)))
    throw new RequestError('thinking.type', 'is not a known type')
  const off = asked?.enabled === false || thinks?.type === 'disabled'
  const settings = { path, visible: null, encrypted: false }
  if (off) return { ...settings, effort: 'none', budget: null }
  const budget =
    limitAt(asked?.max_tokens, 'reasoning.max_tokens') ?? limitAt(thinks?.budget_tokens, 'thinking.budget_tokens')
  // `adaptive` is Anthropic's word, which some clients use here; `auto` is Volcano Engine's for the same.
  const open = asked?.enabled === true || /^(?:enabled|adaptive|auto)$/.test(asString(thinks?.type)) ? -1 : null
  if (effort !== null) return { ...settings, effort, budget: null }
  return (budget ?? open) === null ? null : { ...settings, effort: null, budget: budget ?? open }
}

function readTools(body: JsonObject): Tool[] {
  const tools = asArray(body.tools).map((value, index) => readTool(asObject(value), `tools[${index}]`))
  const functions = asArray(body.functions).map((value, index) => readFunction(asObject(value), `functions[${index}]`))
  return [...tools, ...functions]
}

function readTool(tool: JsonObject | null, path: string): Tool {
  const cacheMark = readCacheControl(tool?.cache_control)
  const marked = cacheMark === null ? {} : { cacheMark }
  const declared = asObject(tool?.function)
  // Mistral's clients leave the type out.
  const type = asText(tool?.type) ?? (declared === null ? null : 'function')
  if (type === 'function') return { ...readFunction(declared, path, `${path}.function`), ...marked }
  if (type === null) throw new RequestError(`${path}.type`, 'is missing')
  const blank = { path, description: null, schema: null, strict: null }
  if (type !== 'custom') return { ...blank, kind: 'hosted', name: type, type }
  const { name, description, format } = asObject(tool?.custom) ?? {}
  const grammar = asObject(format)
  return {
    ...blank,
    kind: 'custom',
    name: requireName(name, `${path}.custom.name`),
    description: asText(description),
    ...(grammar === null || grammar.type === 'text' ? {} : { grammar }),
    ...marked,
  }
}

function readFunction(definition: JsonObject | null, path: string, inside = path): Tool {
  const { name, description, parameters, strict } = definition ?? {}
  return {
    path,
    kind: 'function',
    name: requireName(name, `${inside}.name`),
    description: asText(description),
    schema: asObject(parameters),
    strict: typeof strict === 'boolean' ? strict : null,
  }
}

function requireName(name: unknown, path: string): string {
  const text = asText(name)
  if (text === null) throw new RequestError(path, 'is missing')
  return text
}

function readSearch(value: unknown): Tool[] {
  const options = asObject(value)
  if (options === null) return []
  const location = asObject(options.user_location)
  return [
    {
      path: 'web_search_options',
      kind: 'search',
      name: 'web_search',
      description: null,
      schema: null,
      strict: null,
      search: {
        allowedDomains: null,
        blockedDomains: null,
        maxUses: null,
        contextSize: asText(options.search_context_size),
        // Responses and Anthropic have these members beside the type, not in `approximate`.
        location: location === null ? null : { type: 'approximate', ...asObject(location.approximate) },
      },
    },
  ]
}

function readToolChoice({ tool_choice, function_call }: JsonObject): ToolChoice | null {
  const [value, path] =
    tool_choice === null || tool_choice === undefined ? [function_call, 'function_call'] : [tool_choice, 'tool_choice']
  if (value === null || value === undefined) return null
  const choice = (mode: ToolChoice['mode'], names: readonly string[] = [], required = false): ToolChoice => ({
    path,
    mode,
    names,
    required,
  })
  if (value === 'auto' || value === 'none') return choice(value)
  // `any` is Mistral's word for it.
  if (value === 'required' || value === 'any') return choice('any', [], true)
  const object = asObject(value)
  const allowed = asObject(object?.allowed_tools)
  if (object?.type === 'allowed_tools' && allowed !== null) {
    const names = asArray(allowed.tools).map((tool) => nameOf(asObject(tool)) ?? '')
    if (names.includes('')) throw new RequestError(path, 'has a tool without a name')
    return choice('some', names, allowed.mode === 'required')
  }
  const name = nameOf(object)
  if (name === null) throw new RequestError(path, 'names no tool')
  return choice('any', [name], true)
}

/** `{type, function: {name}}`, or `{name}` in `function_call`. */
function nameOf(object: JsonObject | null): string | null {
  return asText(asObject(object?.function)?.name) ?? asText(asObject(object?.custom)?.name) ?? asText(object?.name)
}
