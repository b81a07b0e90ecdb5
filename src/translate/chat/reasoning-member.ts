import type { JsonObject } from '../../core/json/json-value.ts'
import type { ReasoningSettings } from '../conversation.ts'
import type { Ledger } from '../ledger.ts'
import { budgetOfEffort, type Effort, type ModelFacts, nearestEffort } from '../model-facts.ts'

/** OpenRouter's `reasoning`, in the terms of the model behind it: an effort or a budget. `limit`: of the whole answer. */
export function writeReasoningMember(
  { budget, effort, path }: ReasoningSettings,
  wanted: Effort,
  limit: number,
  { reasoning: { control, efforts, canDisable, leastBudget, mostBudget } }: ModelFacts,
  ledger: Ledger,
): JsonObject {
  if (control !== 'budget') {
    const nearest = nearestEffort(wanted, efforts)
    if (budget !== null || nearest !== effort) ledger.lose(path)
    return nearest === null ? {} : { reasoning: { effort: nearest } }
  }
  if (wanted === 'none' && canDisable) return { reasoning: { enabled: false } }
  const asked = budget ?? budgetOfEffort(wanted)
  // OpenRouter takes no smaller budget.
  const least = Math.max(leastBudget, 1024)
  // A budget must be smaller than the answer, and leaves it a quarter.
  const room = limit > asked ? mostBudget : Math.floor(limit * 0.75)
  const tokens = Math.min(Math.max(asked, least), mostBudget, room)
  if (tokens !== asked) ledger.lose(path)
  return tokens < least ? {} : { reasoning: { max_tokens: tokens } }
}
