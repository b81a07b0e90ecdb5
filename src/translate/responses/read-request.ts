import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReadContext } from '../codec.ts'
import {
  blankSettings,
  type Conversation,
  type ConversationSettings,
  type ConversationTurn,
  type LogprobSettings,
  type OutputFormat,
  type ReasoningSettings,
  type SeenField,
} from '../conversation.ts'
import { readAsked } from '../logprobs.ts'
import { limitAt, orFault, RequestError } from '../request-fault.ts'
import { findSeen } from '../seen-fields.ts'
import { responsesFields } from './fields.ts'
import { commentsBeforeCalls, readInput } from './read-input.ts'
import { readToolChoice, readTools } from './read-tools.ts'

export function readResponsesRequest(body: JsonObject, context: ReadContext) {
  return orFault(() => readConversation(body, context))
}

function readConversation(body: JsonObject, context: ReadContext): Conversation {
  const seen: SeenField[] = []
  // Kinds of items and tools that no other format has are reported as a whole.
  const foreign = new Set<JsonObject>()
  const skip = (object: JsonObject, field: string, path: string) => {
    foreign.add(object)
    seen.push({
      field: Object.hasOwn(responsesFields, field) ? field : `${field.slice(0, field.indexOf(':'))}:unknown`,
      path,
    })
  }
  const turns = readInput(body.input, context, skip)
  const tools = readTools(body, skip)
  const choice = readToolChoice(body.tool_choice, skip)
  const members = findSeen(body, responsesFields, (object) => foreign.has(object))
  const found = seen.concat(withoutPlaced(members, body.input), readIncludes(body.include))
  return {
    turns: [...readInstructions(body.instructions), ...turns],
    tools,
    toolChoice: choice,
    parallelCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : null,
    settings: readSettings(body),
    namesWritten: {
      ...(asText(body.safety_identifier) === null && { safety_identifier: 'user' }),
      ...(asText(asObject(body.reasoning)?.summary) === null && { 'reasoning.summary': 'reasoning.generate_summary' }),
    },
    // The limit counts hosted tools only: without a search it has no effect.
    seen: tools.some(({ kind }) => kind === 'search') ? found : found.filter(({ field }) => field !== 'max_tool_calls'),
  }
}

/** Without the phases of comments that a call follows. */
function withoutPlaced(members: SeenField[], input: unknown): SeenField[] {
  if (!members.some(({ field }) => field === 'input.phase')) return members
  const placed = commentsBeforeCalls(input)
  return members.filter(({ path }) => !placed.has(path))
}

function readInstructions(value: unknown): ConversationTurn[] {
  const text = asText(value)
  if (text === null) return []
  return [{ role: 'system', parts: [{ kind: 'text', text, path: 'instructions' }], path: 'instructions' }]
}

/** What the answer should include. Each value has a row of its own, since some are data that the client waits for. */
function readIncludes(value: unknown): SeenField[] {
  return asArray(value).flatMap((name, index) =>
    typeof name === 'string' && name !== 'reasoning.encrypted_content'
      ? [{ field: `include:${name}`, path: `include[${index}]` }]
      : [],
  )
}

function readSettings(body: JsonObject): ConversationSettings {
  const text = asObject(body.text) ?? {}
  return {
    ...blankSettings,
    maxOutput: limitAt(body.max_output_tokens, 'max_output_tokens'),
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    streamed: body.stream === true,
    endUser: asText(body.safety_identifier) ?? asText(body.user),
    output: readOutput(asObject(text.format)),
    reasoning: readReasoning(body),
    logprobs: readLogprobs(body),
    serviceTier: asText(body.service_tier),
    cacheKey: asText(body.prompt_cache_key),
    verbosity: asText(text.verbosity),
    metadata: body.metadata ?? null,
    store: typeof body.store === 'boolean' ? body.store : null,
  }
}

function readLogprobs({ include, top_logprobs }: JsonObject): LogprobSettings | null {
  const index = asArray(include).indexOf('message.output_text.logprobs')
  return readAsked({ asked: index >= 0, path: `include[${index}]`, top: top_logprobs, topPath: 'top_logprobs' })
}

function readOutput(format: JsonObject | null): OutputFormat | null {
  const path = 'text.format'
  if (format === null || format.type === 'text') return null
  if (format.type === 'json_object') return { path, kind: 'json', name: null, schema: null, strict: null }
  if (format.type !== 'json_schema') throw new RequestError(`${path}.type`, 'is not a known type')
  const strict = typeof format.strict === 'boolean' ? format.strict : null
  const { name, description, schema = null } = format
  const described = typeof description === 'string' ? { description } : {}
  return { path, kind: 'schema', name: asText(name), ...described, schema, strict }
}

const efforts = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function isEffort(value: unknown): value is NonNullable<ReasoningSettings['effort']> {
  return typeof value === 'string' && efforts.has(value)
}

function readReasoning(body: JsonObject): ReasoningSettings | null {
  const reasoning = asObject(body.reasoning)
  const encrypted = asArray(body.include).includes('reasoning.encrypted_content')
  if (reasoning === null && !encrypted) return null
  const { effort = null, summary, generate_summary } = reasoning ?? {}
  if (effort !== null && !isEffort(effort)) throw new RequestError('reasoning.effort', 'is not a known effort')
  return {
    path: 'reasoning',
    effort,
    budget: null,
    visible: asText(summary) !== null || asText(generate_summary) !== null ? true : null,
    encrypted,
  }
}
