import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReasoningSettings } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { budgetOfEffort, effortOfBudget, type ModelFacts, nearestEffort } from '../model-facts.ts'
import { beginsUnsigned, type OrderedTurn } from '../turns.ts'
import { detailsIn } from './reasoning-details.ts'

interface MemberTarget {
  turns: readonly OrderedTurn[]
  /** Of the whole answer. */
  limit: number
  model: string
  facts: ModelFacts
}

/** OpenRouter's `reasoning`, in the terms of the model behind it: an effort or a budget. */
export function writeReasoningMember(
  { budget, effort, path }: ReasoningSettings,
  { turns, limit, model, facts }: MemberTarget,
  ledger: Ledger,
): JsonObject {
  const { control, efforts, canDisable, leastBudget, mostBudget } = facts.reasoning
  const isClaude = facts.family === 'anthropic'
  // The model decides. Claude has to be asked.
  const open = effort === null && (budget ?? -1) < 0
  if (open && !isClaude) return {}
  const wanted = effort ?? (open ? 'medium' : effortOfBudget(budget ?? -1))
  if (wanted === 'none' && canDisable) return { reasoning: { enabled: false } }
  if (control !== 'budget') {
    if (open) return { reasoning: { enabled: true } }
    const nearest = nearestEffort(wanted, efforts)
    if (nearest !== effort) ledger.lose(path)
    return nearest === null ? {} : { reasoning: { effort: nearest } }
  }
  const isOwn = (first: OrderedTurn['parts']) =>
    first.some((part) => 'opaque' in part && detailsIn(part.opaque, model).length > 0)
  const asked = open || budget === null ? budgetOfEffort(wanted) : budget
  // OpenRouter takes no smaller budget.
  const least = Math.max(leastBudget, 1024)
  // A budget must be smaller than the answer, and leaves it a quarter.
  const room = limit > asked ? mostBudget : Math.floor(limit * 0.75)
  const tokens = Math.min(Math.max(asked, least), mostBudget, room)
  const isRefused = tokens < least || (isClaude && beginsUnsigned(turns, isOwn))
  if (isRefused || tokens !== asked) ledger.lose(path)
  return isRefused ? {} : { reasoning: { max_tokens: tokens } }
}
