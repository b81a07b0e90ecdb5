import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReadContext } from '../codec.ts'
import type {
  Conversation,
  ConversationSettings,
  ConversationTurn,
  OutputFormat,
  ReasoningSettings,
  SeenField,
  Tool,
  ToolChoice,
} from '../conversation.ts'
import { blankSettings, plainTurn } from '../conversation.ts'
import { countOf } from '../json.ts'
import { checkType } from '../member-types.ts'
import { PlainTurns } from '../plain-turns.ts'
import { limitAt, orFault, RequestError } from '../request-fault.ts'
import { findSeen } from '../seen-fields.ts'
import { messagesFields } from './fields.ts'
import { isHosted, readBlocks, readMark, readTexts } from './read-blocks.ts'
import { changeTools, isToolChange } from './tool-changes.ts'

export function readMessagesRequest(body: JsonObject, context: ReadContext) {
  return orFault((): Conversation => {
    const toolChoice = asObject(body.tool_choice)
    const parallel = toolChoice?.disable_parallel_tool_use
    const seen = body.max_tokens === 0 ? [warmsOnly] : []
    const tools = asArray(body.tools).flatMap((tool, index) => {
      const read = readTool(asObject(tool), `tools[${index}]`)
      if (!isSearchOfTools(tool)) return [read]
      seen.push({ field: 'tools:tool_search', path: `${read.path}.type` })
      return []
    })
    if (asObject(body.thinking)?.type === 'between_tools') seen.push(thinksBetween)
    return {
      turns: [...readSystem(body.system), ...readTurns(body.messages, context)],
      tools: changeTools(tools, body.messages, readTool, seen),
      toolChoice: readToolChoice(toolChoice),
      parallelCalls: typeof parallel === 'boolean' ? !parallel : null,
      settings: readSettings(body),
      seen: seen.concat(findSeen(body, messagesFields, (block) => isHosted(block) || isSearchOfTools(block))),
    }
  })
}

/** In no other format a model thinks only after its calls. */
const thinksBetween: SeenField = { field: 'thinking.type:between_tools', path: 'thinking.type' }

/** Fills a cache, and expects no answer. */
const warmsOnly: SeenField = { field: 'max_tokens:0', path: 'max_tokens' }

/**
 * What Claude Code sends to Anthropic's billing at the start of a prompt. It changes with each request, so no other provider's cache would
 * ever match what follows.
 */
const billing = /^x-anthropic-billing-header:[^\n]*\n?/

function readSystem(system: unknown): ConversationTurn[] {
  const [first, ...others] = readTexts(system, 'system')
  if (first === undefined) return []
  const text = first.text.replace(billing, '')
  const parts = text === '' ? others : [{ ...first, text }, ...others]
  return parts.length === 0 ? [] : [{ role: 'system', parts, path: 'system' }]
}

function readTurns(messages: unknown, context: ReadContext): ConversationTurn[] {
  if (!Array.isArray(messages)) throw new RequestError('messages', 'is not a list')
  return messages.flatMap((value, index): ConversationTurn | [] => {
    const path = `messages[${index}]`
    if (value instanceof PlainTurns) return plainTurn(value, path)
    const message = asObject(value)
    const role = message?.role
    if (message === null || (role !== 'user' && role !== 'assistant' && role !== 'system')) {
      throw new RequestError(`${path}.role`, 'is not a known role')
    }
    if (role === 'system') {
      const parts = readTexts(message.content, `${path}.content`, isToolChange)
      return parts.length === 0 ? [] : { role, parts, path }
    }
    return { role, parts: readBlocks(message.content, `${path}.content`, context), path }
  })
}

/** Anthropic's own, for tools that it shows to the model later. */
function isSearchOfTools(tool: unknown): tool is JsonObject {
  return asText(asObject(tool)?.type)?.startsWith('tool_search_tool_') === true
}

function readTool(tool: JsonObject | null, path: string): Tool {
  const type = asText(tool?.type) ?? 'custom'
  const name = asText(tool?.name)
  const mark = readMark(tool?.cache_control)
  const base = {
    path,
    description: asText(tool?.description),
    strict: typeof tool?.strict === 'boolean' ? tool.strict : null,
    ...(mark === null ? {} : { cacheMark: mark }),
  }
  if (type.startsWith('web_search'))
    return { ...base, kind: 'search', name: 'web_search', schema: null, search: readSearch(tool) }
  if (type !== 'custom') return { ...base, kind: 'hosted', name: name ?? type, schema: null, type }
  if (name === null) throw new RequestError(`${path}.name`, 'is missing')
  return { ...base, kind: 'function', name, schema: asObject(tool?.input_schema) }
}

function readSearch(tool: JsonObject | null): NonNullable<Tool['search']> {
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : null)
  return {
    allowedDomains: texts(tool?.allowed_domains),
    blockedDomains: texts(tool?.blocked_domains),
    maxUses: countOf(tool?.max_uses),
    contextSize: null,
    location: asObject(tool?.user_location),
  }
}

function readToolChoice(choice: JsonObject | null): ToolChoice | null {
  if (choice === null) return null
  const read = (mode: ToolChoice['mode'], names: readonly string[] = []): ToolChoice => {
    return { path: 'tool_choice', mode, names, required: mode === 'any' }
  }
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'any':
      return read(choice.type)
    case 'tool': {
      const name = asText(choice.name)
      if (name !== null) return read('any', [name])
      throw new RequestError('tool_choice.name', 'is missing')
    }
    default:
      throw new RequestError('tool_choice.type', 'is not a known type')
  }
}

function readSettings(body: JsonObject): ConversationSettings {
  const tier = asText(body.service_tier)
  return {
    ...blankSettings,
    maxOutput: limitAt(body.max_tokens, 'max_tokens'),
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    topK: body.top_k ?? null,
    stop: asArray(body.stop_sequences).filter((one): one is string => typeof one === 'string' && one !== ''),
    streamed: body.stream === true,
    endUser: asText(asObject(body.metadata)?.user_id),
    output:
      readOutput(asObject(body.output_config)?.format, 'output_config.format') ??
      readOutput(body.output_format, 'output_format'),
    reasoning: readReasoning(body),
    serviceTier: tier === 'standard_only' ? 'default' : tier,
    cacheMark: readMark(body.cache_control),
  }
}

function readOutput(value: unknown, path: string): OutputFormat | null {
  const format = asObject(value)
  if (format === null) return null
  if (format.type !== 'json_schema') throw new RequestError(`${path}.type`, 'is not a known type')
  checkType(format.schema, 'o', () => `${path}.schema`)
  return { path, kind: 'schema', name: null, schema: format.schema ?? null, strict: true }
}

const efforts = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/** `effort` guides the whole answer; `thinking` says whether, and how long, the model thinks first. */
function readReasoning(body: JsonObject): ReasoningSettings | null {
  const asked = asObject(body.output_config)?.effort ?? null
  const effort = efforts.find((one) => one === asked) ?? null
  if (asked !== effort) throw new RequestError('output_config.effort', 'is not a known effort')
  const thinking = asObject(body.thinking)
  if (thinking === null && effort === null) return null
  const settings = {
    path: thinking === null ? 'output_config.effort' : 'thinking',
    visible: thinking?.display === 'omitted' ? false : thinking?.display === 'summarized' ? true : null,
    encrypted: false,
  }
  if (thinking !== null && !/^(?:enabled|disabled|adaptive|between_tools)$/.test(asString(thinking.type)))
    throw new RequestError('thinking.type', 'is not a known type')
  if (thinking?.type === 'disabled') return { ...settings, effort: 'none', budget: null }
  const budget = thinking?.type === 'enabled' ? limitAt(thinking.budget_tokens, 'thinking.budget_tokens') : null
  // Adaptive without an effort: the model decides.
  const open = thinking !== null && effort === null && budget === null
  return { ...settings, effort, budget: effort === null ? (open ? -1 : budget) : null }
}
