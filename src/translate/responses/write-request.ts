import type { Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type {
  Conversation,
  ConversationSettings,
  LogprobSettings,
  OutputFormat,
  ReasoningSettings,
} from '../conversation.ts'
import { endUserFor } from '../ids.ts'
import type { Ledger } from '../ledger.ts'
import { refusesLogprobs } from '../logprobs.ts'
import { effortOfBudget, type ModelFacts, modelFacts, nearestEffort } from '../model-facts.ts'
import { isStrictOutput, refuseOtherThanObjects } from '../schema/openai.ts'
import { nothingAsked, settingPath } from '../setting-paths.ts'
import { orderTurns } from '../turns.ts'
import { writeInput } from './write-input.ts'
import { writeToolChoice, writeTools } from './write-tools.ts'

/** Nothing is stored at the provider: each request contains the whole conversation. */
export function writeResponsesRequest(
  conversation: Conversation,
  target: TranslationTarget,
  ledger: Ledger,
): JsonObject | Fault {
  ledger.settle(conversation.seen)
  const { settings, tools, parallelCalls } = conversation
  const facts = modelFacts(target.model)
  if (settings.stop.length > 0) {
    ledger.refuse(settingPath(ledger.from, 'stop'), 'without its stop sequences the answer would continue')
  }
  const effort = writeEffort(settings.reasoning, facts, ledger)
  const search = tools.find(({ kind }) => kind === 'search')?.search
  const input = writeInput(orderTurns(conversation, { systemInPlace: true }, ledger), target, ledger)
  if (input.length === 0) ledger.refuse(settingPath(ledger.from, 'turns'), nothingAsked)
  const body: Record<string, unknown> = {
    model: target.model,
    input,
    ...(tools.length > 0 && { tools: writeTools(tools, target, ledger) }),
    ...writeToolChoice(conversation.toolChoice, tools, target.compatible, ledger),
    ...(parallelCalls !== null && tools.length > 0 && { parallel_tool_calls: parallelCalls }),
    ...(search && search.maxUses !== null && { max_tool_calls: search.maxUses }),
    ...writeLimit(settings.maxOutput, target, ledger),
    ...writeSampling(conversation, facts, effort, ledger),
    ...writeReasoning(settings.reasoning, effort, facts),
    ...writeIncluded(settings.logprobs, facts, target, ledger),
    ...writeText(settings, target, ledger),
    ...writeIdentity(settings, target),
    ...writeTier(settings.serviceTier, ledger),
    // The default is true there. Only chat's member means the same.
    store: ledger.from === 'chat' && settings.store === true,
    ...(target.streamed && { stream: true }),
  }
  return ledger.refused ?? body
}

/** OpenAI rejects less in Responses, and clients that only test a model ask for one token. */
const leastOutput = 16

/** The policy's cap applies whatever the client asked for. */
function writeLimit(
  asked: number | null,
  { maxOutput, outputCap, compatible }: TranslationTarget,
  ledger: Ledger,
): JsonObject {
  const largest = maxOutput ?? Number.POSITIVE_INFINITY
  const least = compatible ? 0 : leastOutput
  if (asked !== null && (asked > largest || asked < least)) ledger.lose(settingPath(ledger.from, 'maxOutput'))
  const wanted = Math.max(asked ?? Number.POSITIVE_INFINITY, least)
  const limit = Math.min(wanted, largest, outputCap ?? Number.POSITIVE_INFINITY)
  return asked === null && outputCap === null ? {} : { max_output_tokens: limit }
}

function writeSampling(
  { settings }: Conversation,
  facts: ModelFacts,
  effort: string | null,
  ledger: Ledger,
): JsonObject {
  const { temperature, topP } = settings
  // Models that reason accept these only while they do not reason.
  if (facts.sampling === 'none' && effort !== 'none') {
    if (temperature !== null) ledger.lose(settingPath(ledger.from, 'temperature'))
    if (topP !== null) ledger.lose(settingPath(ledger.from, 'topP'))
    return {}
  }
  return { ...(temperature !== null && { temperature }), ...(topP !== null && { top_p: topP }) }
}

function writeEffort(asked: ReasoningSettings | null, { reasoning }: ModelFacts, ledger: Ledger): string | null {
  if (asked === null) return null
  const { effort, budget } = asked
  const wanted = effort ?? (budget === null || budget < 0 ? null : effortOfBudget(budget))
  if (wanted === null) {
    if (budget !== null && reasoning.control === 'none') ledger.lose(asked.path)
    return null
  }
  const known = nearestEffort(wanted, reasoning.efforts)
  // A model that does not reason ignores it; one that no table lists may have more features than are known.
  if (known === null) {
    if (wanted !== 'none') ledger.lose(asked.path)
    return null
  }
  if (known !== wanted) ledger.lose(asked.path)
  return known
}

function writeReasoning(asked: ReasoningSettings | null, effort: string | null, facts: ModelFacts): JsonObject {
  const reasons = facts.reasoning.control !== 'none'
  const reasoning = {
    ...(effort !== null && { effort }),
    ...(reasons && asked?.visible === true && { summary: 'auto' }),
  }
  return Object.keys(reasoning).length > 0 ? { reasoning } : {}
}

function writeIncluded(
  asked: LogprobSettings | null,
  facts: ModelFacts,
  target: TranslationTarget,
  ledger: Ledger,
): JsonObject {
  const logprobs = asked === null || refusesLogprobs(asked, target, ledger) ? null : asked
  const include = [
    // The only way to continue if nothing is stored.
    ...(facts.reasoning.control === 'none' ? [] : ['reasoning.encrypted_content']),
    ...(logprobs === null ? [] : ['message.output_text.logprobs']),
  ]
  return {
    ...(include.length > 0 && { include }),
    ...(logprobs !== null && logprobs.top !== null && { top_logprobs: logprobs.top }),
  }
}

function writeText(
  { output, verbosity }: ConversationSettings,
  { compatible }: TranslationTarget,
  ledger: Ledger,
): JsonObject {
  if (output?.kind === 'schema' && !compatible) refuseOtherThanObjects(output, ledger)
  const format = output === null ? null : writeFormat(output, ledger)
  const text = { ...(format !== null && { format }), ...(verbosity !== null && { verbosity }) }
  return Object.keys(text).length > 0 ? { text } : {}
}

function writeFormat(output: OutputFormat, ledger: Ledger): JsonObject {
  const { kind, name, description, schema } = output
  if (kind === 'json') return { type: 'json_object' }
  const described = description === undefined ? {} : { description }
  return { type: 'json_schema', name: name ?? 'answer', ...described, schema, strict: isStrictOutput(output, ledger) }
}

function writeIdentity(
  { endUser, cacheKey, metadata }: ConversationSettings,
  { compatible }: TranslationTarget,
): JsonObject {
  return {
    ...(endUser !== null && { [compatible ? 'user' : 'safety_identifier']: endUserFor(endUser) }),
    ...(cacheKey !== null && !compatible && { prompt_cache_key: cacheKey }),
    ...(metadata !== null && { metadata }),
  }
}

const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

function writeTier(tier: string | null, ledger: Ledger): JsonObject {
  if (tier === null) return {}
  // Anthropic's values have other meanings.
  if (ledger.from !== 'messages' && tiers.has(tier)) return { service_tier: tier }
  if (tier !== 'auto' && tier !== 'default') ledger.lose(settingPath(ledger.from, 'serviceTier'))
  return {}
}
