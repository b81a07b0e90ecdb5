import type { JsonObject } from '../../core/json/json-value.ts'
import { CacheMarks } from '../cache-marks.ts'
import type { TranslationTarget } from '../codec.ts'
import type { Conversation, OutputFormat, Tool } from '../conversation.ts'
import { customToolSchema } from '../custom-tools.ts'
import { foreignTool } from '../foreign-tool.ts'
import { mintId, toolNameFor } from '../ids.ts'
import { numberOf } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { type ModelFacts, modelFacts } from '../model-facts.ts'
import { strictAnthropicSchema } from '../schema/anthropic.ts'
import { outputSchemaPath, toolSchemaPath } from '../schema/schema-paths.ts'
import { nothingAsked, settingPath } from '../setting-paths.ts'
import { type OrderedTurn, orderTurns, withQuestion } from '../turns.ts'
import { planThinking, type ThinkingPlan } from './write-thinking.ts'
import { writeTurns } from './write-turns.ts'

export function writeMessagesRequest(conversation: Conversation, target: TranslationTarget, ledger: Ledger) {
  const facts = modelFacts(target.model)
  ledger.settle(conversation.seen)
  const marks = new CacheMarks(ledger)
  const turns = withQuestion(orderTurns(conversation, facts, ledger), ledger)
  const thinking = planThinking(conversation, turns.turns, target, facts, ledger)
  const declared = conversation.tools
    .map((tool) => writeTool(tool, target, marks, ledger))
    .filter((tool) => tool !== null)
  const tools = declared.length > 0 ? declared : calledTools(turns.turns)
  const system = turns.system.map((part) => marks.on({ type: 'text', text: part.text }, part))
  const messages = writeTurns(turns.turns, { facts, ledger, marks, keepsThinking: thinking.keepsThinking })
  if (messages.length === 0) ledger.refuse(settingPath(ledger.from, 'turns'), nothingAsked)
  marks.finish()
  const { settings } = conversation
  // It would only fill a cache there, without an answer.
  if (settings.maxOutput === 0) ledger.refuse(settingPath(ledger.from, 'maxOutput'), 'it gives at least one token')
  const config = { ...thinking.config, ...writeOutput(settings.output, ledger) }
  const body: JsonObject = {
    model: target.model,
    max_tokens: thinking.maxTokens,
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    messages,
    ...writeChoice(conversation, { declared, tools, thinking, facts, bedrock: target.bedrock }, ledger),
    ...(thinking.thinking === null ? {} : { thinking: thinking.thinking }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...writeSampling(conversation, thinking, facts, ledger),
    ...writeStop(conversation, ledger),
    ...(settings.endUser === null ? {} : { metadata: { user_id: anonymous(settings.endUser) } }),
    ...(settings.serviceTier === 'default' ? { service_tier: 'standard_only' } : {}),
    ...(target.streamed ? { stream: true } : {}),
  }
  return ledger.refused ?? body
}

function writeTool(tool: Tool, target: TranslationTarget, marks: CacheMarks, ledger: Ledger): JsonObject | null {
  if (tool.kind === 'hosted') {
    ledger.refuse(`${tool.path}.type`, foreignTool(tool))
    return null
  }
  if (tool.kind === 'search') return marks.on(writeSearch(tool), tool)
  const strict = isStrict(tool, target, ledger)
  const written = {
    name: toolNameFor('messages', tool.name),
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: tool.kind === 'custom' ? customToolSchema(tool) : writeToolSchema(tool, strict, ledger),
    ...(strict ? { strict } : {}),
  }
  return marks.on(written, tool)
}

/** Several models on Bedrock refuse the member, whatever it says: `false` goes without saying. */
function isStrict({ strict, path }: Tool, { bedrock }: TranslationTarget, ledger: Ledger): boolean {
  if (strict !== true) return false
  if (bedrock === true) ledger.lose(`${path}.${ledger.from === 'chat' ? 'function.strict' : 'strict'}`)
  return bedrock !== true
}

function writeToolSchema({ schema, path }: Tool, strict: boolean, ledger: Ledger): unknown {
  const written = writeSchema(schema)
  return strict ? strictAnthropicSchema(written, toolSchemaPath(ledger.from, path), ledger) : written
}

/** A schema is required, and its type must be `object`. */
function writeSchema(schema: unknown): unknown {
  if (schema === null) return { type: 'object', properties: {} }
  return typeof schema === 'object' && !('type' in schema) ? { type: 'object', ...schema } : schema
}

function writeSearch({ search }: Tool): JsonObject {
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(search?.maxUses ? { max_uses: search.maxUses } : {}),
    ...(search?.allowedDomains ? { allowed_domains: search.allowedDomains } : {}),
    ...(search?.blockedDomains ? { blocked_domains: search.blockedDomains } : {}),
    ...(search?.location ? { user_location: search.location } : {}),
  }
}

/** Calls in the history need their tools, even if the client no longer offers any. */
function calledTools(turns: readonly OrderedTurn[]): JsonObject[] {
  const names = new Set<string>()
  for (const { parts } of turns) for (const part of parts) if (part.kind === 'call') names.add(part.name)
  return [...names].map((name) => ({ name: toolNameFor('messages', name), input_schema: writeSchema(null) }))
}

/** Replaces an address or telephone number by a digest that still tells users apart. */
function anonymous(endUser: string): string {
  return /@|\s|^\+?\d{7,}$/.test(endUser) || endUser.length > 256 ? mintId('user_', endUser) : endUser
}

interface ChoiceWriting {
  declared: readonly JsonObject[]
  tools: readonly JsonObject[]
  thinking: ThinkingPlan
  facts: ModelFacts
  bedrock: boolean | undefined
}

function writeChoice(
  { tools: declarations, toolChoice, parallelCalls }: Conversation,
  { declared, tools, thinking: { thinking }, facts, bedrock }: ChoiceWriting,
  ledger: Ledger,
): JsonObject {
  if (declared.length === 0) return tools.length === 0 ? {} : { tool_choice: { type: 'none' } }
  const single = parallelCalls === false ? { disable_parallel_tool_use: true } : {}
  if (toolChoice === null) return parallelCalls === false ? { tool_choice: { type: 'auto', ...single } } : {}
  const { mode, names, path } = toolChoice
  if (mode === 'none') return { tool_choice: { type: 'none' } }
  const forced = mode === 'any' || toolChoice.required
  const [only = null] = forced && names.length === 1 ? names : []
  // A choice of some of the tools cannot be expressed, and leaving the others out would spoil the cache.
  if (mode === 'some' && only === null && !declarations.every(({ name }) => names.includes(name))) ledger.lose(path)
  // While it thinks, Claude 4.6 and 4.7 refuse it on Bedrock only.
  const isRefused = thinking?.type === 'adaptive' && bedrock === true && facts.forcedOnBedrock === false
  const forbidden = !facts.forcedCalls || thinking?.type === 'enabled' || isRefused
  if (forced && forbidden) ledger.lose(path)
  if (!forced || forbidden) return { tool_choice: { type: 'auto', ...single } }
  const choice = only === null ? { type: 'any' } : { type: 'tool', name: toolNameFor('messages', only) }
  return { tool_choice: { ...choice, ...single } }
}

function writeOutput(output: OutputFormat | null, ledger: Ledger): JsonObject {
  if (output === null) return {}
  if (output.kind === 'json') {
    ledger.refuse(output.path, 'it has no JSON mode without a schema; send one')
    return {}
  }
  const schema = strictAnthropicSchema(output.schema, outputSchemaPath(ledger.from, output.path), ledger)
  return { format: { type: 'json_schema', schema } }
}

const samplings = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
] as const

function writeSampling(
  { settings }: Conversation,
  { thinking }: ThinkingPlan,
  facts: ModelFacts,
  ledger: Ledger,
): JsonObject {
  const written: Record<string, unknown> = {}
  const thinks = thinking?.type === 'enabled' || thinking?.type === 'adaptive'
  for (const [name, setting] of samplings) {
    const value = settings[setting]
    // While it thinks, the default temperature is the only one.
    if (value === null || (thinks && setting === 'temperature' && numberOf(value) === 1)) continue
    const doubled = facts.sampling === 'one' && setting === 'topP' && settings.temperature !== null
    if (facts.sampling === 'none' || thinks || doubled) ledger.lose(settingPath(ledger.from, setting))
    else if (setting === 'temperature' && (numberOf(value) ?? 0) > 1) {
      ledger.lose(settingPath(ledger.from, setting))
      written[name] = 1
    } else written[name] = value
  }
  return written
}

function writeStop({ settings }: Conversation, ledger: Ledger): JsonObject {
  const path = settingPath(ledger.from, 'stop')
  const blank = settings.stop.some((sequence) => sequence.trim() === '')
  if (blank) ledger.refuse(path, 'it accepts no stop sequence of white space only')
  return settings.stop.length === 0 ? {} : { stop_sequences: settings.stop }
}
