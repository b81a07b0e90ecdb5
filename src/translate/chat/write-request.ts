import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import { CacheMarks } from '../cache-marks.ts'
import type { TranslationTarget } from '../codec.ts'
import type { Conversation, ConversationSettings, Tool, ToolChoice } from '../conversation.ts'
import { customToolSchema, nestedGrammar } from '../custom-tools.ts'
import { foreignTool } from '../foreign-tool.ts'
import { endUserFor, toolNameFor } from '../ids.ts'
import type { Ledger } from '../ledger.ts'
import { refusesLogprobs } from '../logprobs.ts'
import { effortOfBudget, type ModelFacts, modelFacts, nearestEffort } from '../model-facts.ts'
import { functionSchema, isStrictOutput, isStrictTool, refuseOtherThanObjects } from '../schema/openai.ts'
import { forcesSearch, searchAllowed } from '../search-choice.ts'
import { cacheMarkPath, nothingAsked, settingPath } from '../setting-paths.ts'
import { type OrderedTurns, orderTurns } from '../turns.ts'
import { writeSampling } from '../write-sampling.ts'
import { writeReasoningMember } from './reasoning-member.ts'
import { writeTurns } from './write-turns.ts'

/** For `compatible` targets, members are left out that only OpenAI's own API is sure to know. */
export function writeChatRequest(conversation: Conversation, target: TranslationTarget, ledger: Ledger) {
  const facts = modelFacts(target.model)
  ledger.settle(conversation.seen)
  const turns = orderTurns(conversation, { systemInPlace: true }, ledger)
  const marks = target.cacheControl === true ? new CacheMarks(ledger) : null
  const reasoning = writeReasoning(conversation, turns, target, facts, ledger)
  // Claude takes no sampling while it thinks. 4.5 and older take no forced calls then, and otherwise nothing back that they thought.
  const isClaude = facts.family === 'anthropic'
  const thinks = isClaude && 'reasoning' in reasoning && asObject(reasoning.reasoning)?.enabled !== false
  const byBudget = isClaude && facts.reasoning.control === 'budget'
  const keepsDetails = !byBudget || thinks
  const messages = writeTurns(turns, { target, facts, ledger, tools: conversation.tools, marks, keepsDetails })
  marks?.finish()
  if (messages.length === 0) ledger.refuse(settingPath(ledger.from, 'turns'), nothingAsked)
  const body: JsonObject = {
    model: target.model,
    messages,
    ...writeTools(conversation, target, (thinks && byBudget) || !facts.forcedCalls, ledger),
    ...writeLimits(conversation, target, facts, ledger),
    ...writeSamplings(conversation.settings, thinks || facts.sampling === 'none', ledger),
    ...reasoning,
    ...writeOutput(conversation, target, ledger),
    ...writeLogprobs(conversation, target, ledger),
    ...writeIdentity(conversation, target, ledger),
    ...(target.streamed ? { stream: true } : {}),
    ...(target.streamed && target.streamOptions ? { stream_options: { include_usage: true } } : {}),
  }
  return ledger.refused ?? body
}

function writeTools(
  conversation: Conversation,
  target: TranslationTarget,
  unforced: boolean,
  ledger: Ledger,
): JsonObject {
  const { tools, toolChoice, parallelCalls } = conversation
  const written = tools.flatMap((tool) => writeTool(tool, target, ledger) ?? [])
  const search = searchAllowed(conversation)
  // Models that search always do so; only the choice not to call functions is lost.
  const searches = forcesSearch(conversation)
  if (searches && written.length > 0) ledger.lose('tool_choice')
  return {
    ...(written.length === 0 ? {} : { tools: written }),
    ...(written.length === 0 || toolChoice === null || searches
      ? {}
      : { tool_choice: writeChoice(toolChoice, tools, unforced, target, ledger) }),
    ...(written.length === 0 || parallelCalls === null ? {} : { parallel_tool_calls: parallelCalls }),
    ...(search === undefined ? {} : writeSearch(search, target, ledger)),
  }
}

function writeTool(tool: Tool, { compatible }: TranslationTarget, ledger: Ledger): JsonObject | null {
  if (tool.cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, tool.path))
  const described = tool.description === null ? {} : { description: tool.description }
  const name = toolNameFor('chat', tool.name)
  if (tool.kind === 'hosted') {
    ledger.refuse(`${tool.path}.type`, foreignTool(tool))
    return null
  }
  if (tool.kind === 'search') return null
  if (tool.kind === 'custom' && !compatible) {
    return {
      type: 'custom',
      custom: { name, ...described, ...(tool.grammar === undefined ? {} : { format: nestedGrammar(tool.grammar) }) },
    }
  }
  if (tool.grammar !== undefined) ledger.lose(`${tool.path}.format`)
  const schema = tool.kind === 'custom' ? customToolSchema(tool) : functionSchema(tool.schema)
  const definition = {
    name,
    ...described,
    ...(schema === null ? {} : { parameters: schema }),
    ...(tool.strict === null ? {} : { strict: isStrictTool(tool, ledger) }),
  }
  return { type: 'function', function: definition }
}

function writeChoice(
  { mode, names, required, path }: ToolChoice,
  tools: readonly Tool[],
  unforced: boolean,
  target: TranslationTarget,
  ledger: Ledger,
) {
  if (mode === 'auto' || mode === 'none') return mode
  if (unforced && (mode === 'any' || required)) {
    ledger.lose(path)
    return 'auto'
  }
  const written = names.map((name) => writeNamed(name, tools, target))
  if (mode === 'any') return written[0] ?? 'required'
  if (!target.compatible) {
    return { type: 'allowed_tools', allowed_tools: { mode: required ? 'required' : 'auto', tools: written } }
  }
  ledger.lose(path)
  return required ? 'required' : 'auto'
}

function writeNamed(name: string, tools: readonly Tool[], { compatible }: TranslationTarget): JsonObject {
  const custom = !compatible && tools.some((tool) => tool.kind === 'custom' && tool.name === name)
  const named = { name: toolNameFor('chat', name) }
  return custom ? { type: 'custom', custom: named } : { type: 'function', function: named }
}

/** Options that restrict a search must be kept. A server other than OpenAI's may not search at all. */
function writeSearch({ search, path }: Tool, { compatible }: TranslationTarget, ledger: Ledger): JsonObject {
  if (compatible) {
    ledger.refuse(path, 'this provider hosts no web search')
    return {}
  }
  for (const [member, value] of [
    ['allowed_domains', search?.allowedDomains],
    ['blocked_domains', search?.blockedDomains],
    ['max_uses', search?.maxUses],
  ] as const) {
    if (value !== null && value !== undefined) ledger.refuse(`${path}.${member}`, `its web search has no ${member}`)
  }
  const { type: _, ...approximate } = { ...(search?.location as JsonObject | null) }
  return {
    web_search_options: {
      ...(search?.contextSize ? { search_context_size: search.contextSize } : {}),
      ...(Object.keys(approximate).length === 0 ? {} : { user_location: { type: 'approximate', approximate } }),
    },
  }
}

function writeLimits(
  { settings }: Conversation,
  target: TranslationTarget,
  facts: ModelFacts,
  ledger: Ledger,
): JsonObject {
  // Anthropic's clients must set a limit, and often set Claude's maximum: more than this model allows would be rejected.
  const largest = target.maxOutput ?? Number.POSITIVE_INFINITY
  const wanted = settings.maxOutput
  if (wanted !== null && wanted > largest) ledger.lose(settingPath(ledger.from, 'maxOutput'))
  const most = Math.min(largest, target.outputCap ?? Number.POSITIVE_INFINITY)
  const limit = wanted === null && target.outputCap === null ? null : Math.min(wanted ?? most, most)
  const name = target.compatible && !facts.developerRole ? 'max_tokens' : 'max_completion_tokens'
  if (settings.stop.length > 0 && !facts.stop) {
    const path = settingPath(ledger.from, 'stop')
    ledger.refuse(path, 'this model has no stop sequences, and without them the answer would continue')
  }
  if (settings.stop.length > 4) {
    ledger.refuse(settingPath(ledger.from, 'stop'), 'it takes at most 4 stop sequences')
  }
  return {
    ...(limit === null ? {} : { [name]: limit }),
    ...(settings.stop.length === 0 ? {} : { stop: settings.stop }),
  }
}

const samplings = [
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['presence_penalty', 'presencePenalty'],
] as const

function writeSamplings(settings: ConversationSettings, refused: boolean, ledger: Ledger): JsonObject {
  const written = writeSampling(samplings, settings, refused, ledger)
  if (settings.topK !== null) ledger.lose(settingPath(ledger.from, 'topK'))
  return settings.seed === null ? written : { ...written, seed: settings.seed }
}

const most = Number.POSITIVE_INFINITY

/** A model without effort levels gets none: it decides itself whether to reason. */
function writeReasoning(
  { settings, tools }: Conversation,
  { turns }: OrderedTurns,
  target: TranslationTarget,
  facts: ModelFacts,
  ledger: Ledger,
): JsonObject {
  const { reasoning } = settings
  // From GPT-5.4 on, OpenAI takes tools here only if the model does not reason.
  if (!target.compatible && facts.phases && tools.some(({ kind }) => kind !== 'search')) {
    const isAsked = reasoning !== null && reasoning.effort !== 'none' && reasoning.budget !== 0
    if (isAsked) ledger.lose(reasoning.path)
    return { reasoning_effort: 'none' }
  }
  if (reasoning === null) return {}
  // Other vendors show reasoning unasked. Agents always ask for it, so a strict route must not refuse them.
  if (reasoning.visible === true && !target.compatible && facts.reasoning.control !== 'none') {
    const path = settingPath(ledger.from, 'shownReasoning')
    ledger.accept(path)
    ledger.lose(path)
  }
  const { control } = facts.reasoning
  if (target.reasoningBudget && control !== 'none' && (facts.family === 'gemini' || facts.family === 'anthropic')) {
    const limit = Math.min(settings.maxOutput ?? most, target.outputCap ?? most)
    return writeReasoningMember(reasoning, { turns, limit, model: target.model, facts }, ledger)
  }
  const wanted = reasoning.effort ?? (reasoning.budget === null ? null : effortOfBudget(reasoning.budget))
  // The model decides.
  const open = reasoning.effort === null && (reasoning.budget === null || reasoning.budget < 0)
  if (wanted === null || (open && control !== 'none')) return {}
  // None is an effort, too.
  if (reasoning.budget !== null && reasoning.budget > 0) ledger.lose(settingPath(ledger.from, 'budget'))
  if (control !== 'effort') {
    if (wanted !== 'none') ledger.lose(reasoning.path)
    return {}
  }
  const nearest = nearestEffort(wanted, facts.reasoning.efforts)
  if (nearest !== wanted) ledger.lose(reasoning.path)
  return nearest === null ? {} : { reasoning_effort: nearest }
}

function writeOutput(
  { settings: { output } }: Conversation,
  { compatible }: TranslationTarget,
  ledger: Ledger,
): JsonObject {
  if (output === null) return {}
  if (output.kind === 'json') return { response_format: { type: 'json_object' } }
  if (!compatible) refuseOtherThanObjects(output, ledger)
  const schema = {
    name: output.name ?? 'answer',
    ...(output.description !== undefined && { description: output.description }),
    schema: output.schema,
    strict: isStrictOutput(output, ledger),
  }
  return { response_format: { type: 'json_schema', json_schema: schema } }
}

function writeLogprobs(
  { settings: { logprobs } }: Conversation,
  target: TranslationTarget,
  ledger: Ledger,
): JsonObject {
  if (logprobs === null || refusesLogprobs(logprobs, target, ledger)) return {}
  return { logprobs: true, ...(logprobs.top === null ? {} : { top_logprobs: logprobs.top }) }
}

function writeIdentity({ settings }: Conversation, { compatible }: TranslationTarget, ledger: Ledger): JsonObject {
  const own: Record<string, unknown> = {}
  if (settings.endUser !== null) own[compatible ? 'user' : 'safety_identifier'] = endUserFor(settings.endUser)
  // Chat accepts metadata only for answers that it stores.
  if (Object.keys(asObject(settings.metadata) ?? {}).length > 0) ledger.lose('metadata')
  if (compatible) {
    loseOpenaiMembers(settings, ledger)
    return own
  }
  if (settings.cacheKey !== null) own.prompt_cache_key = settings.cacheKey
  if (settings.verbosity !== null) own.verbosity = settings.verbosity
  if (settings.serviceTier !== null && settings.serviceTier !== 'auto') own.service_tier = settings.serviceTier
  // In Responses, `store: true` asks for state, which chat does not keep; in chat it would only store the text.
  if (settings.store === false) own.store = false
  return own
}

const usualTiers = new Set(['auto', 'default', 'standard'])

/** Members that only OpenAI's own API has. A cache key only makes answers cheaper. */
function loseOpenaiMembers({ verbosity, serviceTier }: ConversationSettings, ledger: Ledger): void {
  if (verbosity !== null) ledger.lose(settingPath(ledger.from, 'verbosity'))
  if (serviceTier !== null && !usualTiers.has(serviceTier)) ledger.lose(settingPath(ledger.from, 'serviceTier'))
}
