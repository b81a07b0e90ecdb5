import type { JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type { Conversation, ReasoningSettings } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { budgetOfEffort, effortOfBudget, type ModelFacts, nearestEffort } from '../model-facts.ts'
import { settingPath } from '../setting-paths.ts'
import { beginsUnsigned, type OrderedTurn } from '../turns.ts'

export interface ThinkingPlan {
  thinking: JsonObject | null
  /** Members of `output_config`. */
  config: JsonObject
  maxTokens: number
  /** Whether thinking blocks of the history are sent: a model that does not think rejects them. */
  keepsThinking: boolean
}

const largestKnown = 64_000

export function planThinking(
  conversation: Conversation,
  turns: readonly OrderedTurn[],
  target: TranslationTarget,
  facts: ModelFacts,
  ledger: Ledger,
): ThinkingPlan {
  const plan = planAsked(conversation, turns, target, facts, ledger)
  const { control } = facts.reasoning
  // With a budget, an answer under way must not contain thinking unless thinking is on. Newer models leave it out themselves.
  const keepsThinking = control === 'adaptive' || (control === 'budget' && plan.thinking?.type === 'enabled')
  return { ...plan, keepsThinking }
}

/** How the model should think, in terms that it knows: a budget (4.5 and older), an effort (4.6 and newer), or not at all. */
function planAsked(
  { settings }: Conversation,
  turns: readonly OrderedTurn[],
  target: TranslationTarget,
  facts: ModelFacts,
  ledger: Ledger,
): Omit<ThinkingPlan, 'keepsThinking'> {
  const largest = target.maxOutput ?? facts.maxOutput ?? largestKnown
  const capped = Math.min(largest, target.outputCap ?? largest)
  // More than the model's maximum is rejected.
  const most = target.maxOutput ?? Number.POSITIVE_INFINITY
  const asked = settings.maxOutput
  if (asked !== null && asked > most) ledger.lose(settingPath(ledger.from, 'maxOutput'))
  const limit = asked === null ? null : Math.min(asked, most, target.outputCap ?? asked)
  const wanted = settings.reasoning
  const plan = { thinking: null, config: {}, maxTokens: limit ?? capped }
  if (wanted === null) return plan
  const isOff = wanted.effort === 'none' || wanted.budget === 0
  if (facts.reasoning.control === 'none') {
    if (!isOff) ledger.lose(wanted.path)
    return plan
  }
  if (isOff) return { ...plan, ...writeDisabled(wanted, facts, ledger) }
  if (facts.reasoning.control === 'adaptive') return { ...plan, ...writeAdaptive(wanted, facts, ledger) }
  // With a budget, an answer that calls tools must begin with its signed thinking, or the provider rejects it.
  if (beginsUnsigned(turns, ([first]) => first?.kind === 'reasoning' && first.opaque?.family === 'anthropic')) {
    ledger.lose(wanted.path)
    return plan
  }
  return { ...plan, ...writeBudget(wanted, limit, capped, facts, ledger) }
}

function writeDisabled({ path }: ReasoningSettings, facts: ModelFacts, ledger: Ledger): Partial<ThinkingPlan> {
  const { canDisable, offBetweenTools } = facts.reasoning
  if (canDisable) return { thinking: { type: offBetweenTools === true ? 'between_tools' : 'disabled' } }
  ledger.lose(path)
  return { config: { effort: 'low' } }
}

function writeAdaptive(wanted: ReasoningSettings, facts: ModelFacts, ledger: Ledger): Partial<ThinkingPlan> {
  const display = wanted.visible === null ? {} : { display: wanted.visible ? 'summarized' : 'omitted' }
  const thinking = { type: 'adaptive', ...display }
  if (wanted.effort === null && (wanted.budget === null || wanted.budget < 0)) return { thinking }
  const effort = wanted.effort ?? effortOfBudget(wanted.budget ?? -1)
  const nearest = nearestEffort(effort, facts.reasoning.efforts)
  if (nearest !== wanted.effort) ledger.lose(wanted.path)
  return { thinking, config: nearest === null ? {} : { effort: nearest } }
}

/**
 * The budget is part of the output limit: if the client set no limit, the limit is raised for it; otherwise the budget shrinks, and leaves
 * a quarter for the answer.
 */
function writeBudget(
  wanted: ReasoningSettings,
  limit: number | null,
  largest: number,
  { reasoning: { leastBudget, mostBudget } }: ModelFacts,
  ledger: Ledger,
): Partial<ThinkingPlan> {
  const asked = wanted.budget === null || wanted.budget < 0 ? budgetOfEffort(wanted.effort ?? 'medium') : wanted.budget
  const maxTokens = limit ?? largest
  const room = Math.min(Math.max(Math.floor(maxTokens * 0.75), leastBudget), maxTokens - 1)
  const budget = Math.min(Math.max(asked, leastBudget), mostBudget, room)
  if (budget < leastBudget) {
    ledger.lose(wanted.path)
    return {}
  }
  if (wanted.budget !== null && budget !== wanted.budget) ledger.lose(wanted.path)
  const display = wanted.visible === false ? { display: 'omitted' } : {}
  return { thinking: { type: 'enabled', budget_tokens: budget, ...display }, maxTokens }
}
