import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { ReadContext } from '../codec.ts'
import {
  blankSettings,
  type Conversation,
  type ConversationSettings,
  type ConversationTurn,
  type OutputFormat,
  type ReasoningSettings,
  type SeenField,
  type TextPart,
} from '../conversation.ts'
import { countOf, numberOf } from '../json.ts'
import { readAsked } from '../logprobs.ts'
import { limitAt, orFault, RequestError } from '../request-fault.ts'
import { schemaFromOpenApi } from '../schema/openapi.ts'
import { orderProperties } from '../schema/property-order.ts'
import { findSeen } from '../seen-fields.ts'
import { toCamelCase } from './camel-case.ts'
import { generateFields } from './fields.ts'
import { listOf, readContents } from './read-contents.ts'
import { namesCount, readToolConfig, readTools } from './read-tools.ts'

export function readGenerateRequest(body: JsonObject, context: ReadContext) {
  return orFault(() => readConversation(toCamelCase(body), context))
}

function readConversation(body: JsonObject, context: ReadContext): Conversation {
  const seen: SeenField[] = []
  // Kinds of parts that no other format has are reported as a whole.
  const foreign = new Set<JsonObject>()
  const turns = readContents(body.contents, context, (object, field, path) => {
    if (object !== null) foreign.add(object)
    seen.push({ field: Object.hasOwn(generateFields, field) ? field : 'contents.parts:unknown', path })
  })
  const config = asObject(body.generationConfig) ?? {}
  const output = readOutput(config)
  if (output === 'unknown') {
    seen.push({ field: 'generationConfig.responseMimeType:unknown', path: 'generationConfig.responseMimeType' })
  }
  const calling = asObject(asObject(body.toolConfig)?.functionCallingConfig)
  if (asText(calling?.mode)?.toUpperCase() === 'VALIDATED') {
    seen.push({
      field: 'toolConfig.functionCallingConfig.mode:VALIDATED',
      path: 'toolConfig.functionCallingConfig.mode',
    })
  }
  const names = 'toolConfig.functionCallingConfig.allowedFunctionNames'
  if (asArray(calling?.allowedFunctionNames).length > 0 && !namesCount(calling))
    seen.push({ field: `${names}:AUTO`, path: names })
  const found = seen.concat(findSeen(body, generateFields, (object) => foreign.has(object)))
  return {
    turns: [...readSystem(body.systemInstruction), ...turns],
    tools: readTools(body.tools),
    toolChoice: readToolConfig(calling),
    parallelCalls: null,
    settings: readSettings(body, config, output === 'unknown' ? null : output, context.streamed),
    seen: found,
  }
}

/** Only the texts of a system instruction count; clients may send a plain string. */
function readSystem(value: unknown): ConversationTurn[] {
  const path = 'systemInstruction'
  if (value === undefined || value === null) return []
  const texts = typeof value === 'string' ? [value] : listOf(asObject(value)?.parts).map((part) => asObject(part)?.text)
  const parts = texts.map((text, index): TextPart => {
    const at = `${path}.parts[${index}]`
    if (typeof text !== 'string') throw new RequestError(at, 'is not text')
    return { kind: 'text', text, path: at }
  })
  return parts.length === 0 ? [] : [{ role: 'system', parts, path }]
}

function readSettings(
  body: JsonObject,
  config: JsonObject,
  output: OutputFormat | null,
  streamed: boolean,
): ConversationSettings {
  const stop = config.stopSequences
  return {
    ...blankSettings,
    maxOutput: limitAt(unquoted(config.maxOutputTokens), 'generationConfig.maxOutputTokens'),
    temperature: unquoted(config.temperature),
    topP: unquoted(config.topP),
    topK: unquoted(config.topK),
    frequencyPenalty: unquoted(config.frequencyPenalty),
    presencePenalty: unquoted(config.presencePenalty),
    seed: unquoted(config.seed),
    stop: (typeof stop === 'string' ? [stop] : asArray(stop)).filter(
      (text): text is string => typeof text === 'string' && text !== '',
    ),
    count: countOf(config.candidateCount),
    streamed,
    output,
    reasoning: readThinking(asObject(config.thinkingConfig)),
    logprobs: readAsked({
      asked: config.responseLogprobs === true,
      path: 'generationConfig.responseLogprobs',
      top: unquoted(config.logprobs),
      topPath: 'generationConfig.logprobs',
    }),
    serviceTier: readTier(body.serviceTier),
    store: typeof body.store === 'boolean' ? body.store : null,
  }
}

/** Google accepts a number written as a string. */
function unquoted(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : (value ?? null)
}

/** `standard` is the default. */
function readTier(value: unknown): string | null {
  const tier = asText(value)?.toLowerCase() ?? null
  return tier === 'standard' || tier === 'unspecified' ? null : tier
}

function readOutput(config: JsonObject): OutputFormat | 'unknown' | null {
  const hasSchema = asObject(config.responseJsonSchema ?? config.responseSchema) !== null
  const type = asText(config.responseMimeType) ?? (hasSchema ? 'application/json' : null)
  if (type === null || type === 'text/plain') return null
  if (type !== 'application/json') return 'unknown'
  const format = (kind: 'schema' | 'json', member: string, schema: unknown): OutputFormat => ({
    path: `generationConfig.${member}`,
    kind,
    name: null,
    schema,
    strict: null,
  })
  const { responseJsonSchema, responseSchema } = config
  const json = asObject(responseJsonSchema)
  if (json !== null) return format('schema', 'responseJsonSchema', orderProperties(json))
  if (asObject(responseSchema) === null) return format('json', 'responseMimeType', null)
  return format('schema', 'responseSchema', schemaFromOpenApi(responseSchema))
}

const levels: Readonly<Record<string, ReasoningSettings['effort']>> = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
  XHIGH: 'xhigh',
}

function readThinking(config: JsonObject | null): ReasoningSettings | null {
  if (config === null) return null
  const { includeThoughts, thinkingBudget, thinkingLevel } = config
  const path = 'generationConfig.thinkingConfig'
  const level = asText(thinkingLevel)?.toUpperCase() ?? null
  const effort = ownValue(levels, level ?? '') ?? null
  if (level !== null && level !== 'THINKING_LEVEL_UNSPECIFIED' && effort === null)
    throw new RequestError(`${path}.thinkingLevel`, 'is not a known level')
  if (thinkingBudget && numberOf(unquoted(thinkingBudget)) === null)
    throw new RequestError(`${path}.thinkingBudget`, 'is not a number')
  return {
    path,
    effort,
    budget: numberOf(unquoted(thinkingBudget)),
    visible: typeof includeThoughts === 'boolean' ? includeThoughts : null,
    encrypted: false,
  }
}
