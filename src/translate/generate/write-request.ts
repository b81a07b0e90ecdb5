import type { Fault } from '../../core/errors.ts'
import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type { Conversation, ConversationSettings, OutputFormat, ReasoningSettings } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { budgetOfEffort, effortOfBudget, type ModelFacts, modelFacts, nearestEffort } from '../model-facts.ts'
import { outputSchemaPath } from '../schema/schema-paths.ts'
import { nothingAsked, settingPath } from '../setting-paths.ts'
import { orderTurns, withQuestion } from '../turns.ts'
import { writeSampling } from '../write-sampling.ts'
import { writeContents } from './write-contents.ts'
import { writeImages } from './write-images.ts'
import { SchemaWriter } from './write-schema.ts'
import { writeToolConfig, writeTools } from './write-tools.ts'

/** The URL names the model, and says whether to stream. */
export function writeGenerateRequest(
  conversation: Conversation,
  target: TranslationTarget,
  ledger: Ledger,
): JsonObject | Fault {
  ledger.settle(conversation.seen)
  const { settings } = conversation
  const facts = modelFacts(target.model)
  const { system, turns } = withQuestion(orderTurns(conversation, { systemInPlace: false }, ledger), ledger)
  const contents = writeContents(turns, facts, ledger)
  if (contents.length === 0) ledger.refuse(settingPath(ledger.from, 'turns'), nothingAsked)
  if (conversation.parallelCalls === false) ledger.lose(settingPath(ledger.from, 'parallelCalls'))
  const schemas = new SchemaWriter(ledger)
  const images = writeImages(conversation, target.model, ledger)
  const config = { ...writeConfig(settings, target, facts, ledger), ...images }
  const output = settings.output === null ? {} : writeOutput(settings.output, schemas, ledger)
  const tools = writeTools(conversation, target, schemas, ledger)
  if (settings.output !== null && 'tools' in tools && facts.family === 'gemini' && facts.reasoning.control !== 'level')
    ledger.refuse(settings.output.path, 'before Gemini 3 there is no JSON beside tools')
  const body: JsonObject = {
    contents,
    ...(system.length > 0 && { systemInstruction: { parts: system.map(({ text }) => ({ text })) } }),
    ...tools,
    ...writeToolConfig(conversation, ledger),
    ...(Object.keys({ ...config, ...output }).length > 0 && { generationConfig: { ...config, ...output } }),
    ...writeTier(settings.serviceTier, ledger),
  }
  return ledger.refused ?? body
}

function writeConfig(
  settings: ConversationSettings,
  target: TranslationTarget,
  facts: ModelFacts,
  ledger: Ledger,
): JsonObject {
  const { seed, stop, reasoning, logprobs } = settings
  const limit = writeLimit(settings.maxOutput, target, ledger)
  if (stop.length > 5) ledger.refuse(settingPath(ledger.from, 'stop'), 'it takes at most 5 stop sequences')
  const thinking = reasoning === null ? {} : writeThinking(reasoning, facts, ledger)
  return {
    ...(limit !== null && { maxOutputTokens: limit }),
    ...writeSampling(
      samplings.map((name) => [name, name] as const),
      settings,
      facts.sampling === 'none',
      ledger,
    ),
    ...(seed !== null && { seed }),
    ...(stop.length > 0 && { stopSequences: stop }),
    ...(logprobs !== null && { responseLogprobs: true }),
    ...(logprobs !== null && logprobs.top !== null && { logprobs: logprobs.top }),
    ...(Object.keys(thinking).length > 0 && { thinkingConfig: thinking }),
  }
}

const samplings = ['temperature', 'topP', 'topK', 'frequencyPenalty', 'presencePenalty'] as const

/** The policy's cap applies whatever the client asked for. */
function writeLimit(asked: number | null, { outputCap, maxOutput }: TranslationTarget, ledger: Ledger): number | null {
  const largest = maxOutput ?? Number.POSITIVE_INFINITY
  if (asked !== null && asked > largest) ledger.lose(settingPath(ledger.from, 'maxOutput'))
  const limit = Math.min(asked ?? Number.POSITIVE_INFINITY, largest, outputCap ?? Number.POSITIVE_INFINITY)
  return asked === null && outputCap === null ? null : limit
}

/** Never both: a level for models that know levels, otherwise a budget. */
function writeThinking(asked: ReasoningSettings, { reasoning }: ModelFacts, ledger: Ledger): JsonObject {
  const shown = asked.visible === true && reasoning.control !== 'none' ? { includeThoughts: true } : {}
  if (reasoning.control === 'level') return { ...shown, ...writeLevel(asked, reasoning.efforts, ledger) }
  if (reasoning.control === 'budget') {
    const budget = writeBudget(asked, reasoning, ledger)
    // What is not thought cannot be shown.
    return budget.thinkingBudget === 0 ? budget : { ...shown, ...budget }
  }
  const isOff = asked.effort === 'none' || (asked.effort === null && (asked.budget ?? 0) === 0)
  if (!isOff) ledger.lose(asked.path)
  return {}
}

function writeLevel(
  { effort, budget, path }: ReasoningSettings,
  efforts: ModelFacts['reasoning']['efforts'],
  ledger: Ledger,
): JsonObject {
  const wanted = effort ?? (budget === null || budget < 0 ? null : effortOfBudget(budget))
  const level = wanted === null ? null : nearestEffort(wanted, efforts)
  // A number of tokens is more precise than a level.
  if (level !== wanted || (effort === null && wanted !== null && wanted !== 'none')) ledger.lose(path)
  return level === null ? {} : { thinkingLevel: level.toUpperCase() }
}

function writeBudget(
  { effort, budget, path }: ReasoningSettings,
  facts: ModelFacts['reasoning'],
  ledger: Ledger,
): JsonObject {
  const wanted = budget ?? (effort === null ? null : budgetOfEffort(effort))
  if (wanted === null) return {}
  if (wanted < 0 || (wanted === 0 && facts.canDisable)) return { thinkingBudget: wanted }
  const thinkingBudget = Math.min(Math.max(wanted, facts.leastBudget), facts.mostBudget)
  if (thinkingBudget !== wanted) ledger.lose(path)
  return { thinkingBudget }
}

/** A schema that the client relies on must be kept whole, or the request is refused: nothing checks the answer afterwards. */
function writeOutput({ path, kind, schema, strict }: OutputFormat, schemas: SchemaWriter, ledger: Ledger): JsonObject {
  const json = { responseMimeType: 'application/json' }
  const object = asObject(schema)
  if (kind === 'json' || object === null) return json
  const responseJsonSchema = schemas.write(object, outputSchemaPath(ledger.from, path), (lost) => {
    if (strict === true) ledger.refuse(lost, `its answers cannot be held to ${lost}, which a strict schema demands`)
  })
  return { ...json, responseJsonSchema }
}

function writeTier(tier: string | null, ledger: Ledger): JsonObject {
  if (tier === null || tier === 'auto' || tier === 'default' || tier === 'standard') return {}
  if (tier === 'flex' || tier === 'priority') return { serviceTier: tier }
  if (tier !== 'standard_only') ledger.lose(settingPath(ledger.from, 'serviceTier'))
  return {}
}
