import { isJson } from '../../../../core/json/indent-json.ts'
import { type LaneName, laneNames } from '../../../../core/lane.ts'
import { type LaneCall, lanePath, type Turn, writeLaneCall } from '../../../../core/lane-call.ts'

/** The form's values, as text. */
export interface Draft {
  lane: LaneName
  model: string
  /** Id of the key; '': none, only the scope holds. */
  key: string
  system: string
  turns: readonly DraftTurn[]
  maxTokens: string
  temperature: string
  streamed: boolean
  /** The body as it was changed by hand; null: it follows the controls. */
  body: string | null
}

export interface DraftTurn {
  id: number
  role: 'user' | 'assistant'
  text: string
}

export const firstDraft: Draft = {
  lane: 'openai',
  model: '',
  key: '',
  system: '',
  turns: [{ id: 1, role: 'user', text: 'Say hello in one short sentence.' }],
  maxTokens: '',
  temperature: '',
  streamed: true,
  body: null,
}

/** What would be sent, in the lane's own format. */
export function callOf(draft: Draft): LaneCall {
  const system: Turn[] = draft.system.trim() === '' ? [] : [{ role: 'system', text: draft.system }]
  return writeLaneCall(draft.lane, {
    model: draft.model,
    turns: [...system, ...draft.turns],
    streamed: draft.streamed,
    maxTokens: numberOf(draft.maxTokens),
    temperature: numberOf(draft.temperature),
  })
}

export function bodyOf(draft: Draft): string {
  return draft.body ?? JSON.stringify(callOf(draft).body, null, 2)
}

export function pathOf(draft: Draft): string {
  return lanePath(draft.lane, draft.model, draft.streamed)
}

/** Why it cannot be sent yet; null: it can. */
export function blockedReason(draft: Draft): string | null {
  if (draft.model.trim() === '') return 'Choose a model.'
  if (draft.body !== null) return isJson(draft.body) ? null : 'The body is not valid JSON.'
  if (draft.turns.every(({ text }) => text.trim() === '')) return 'Enter a message.'
  for (const [name, text] of [
    ['Max tokens', draft.maxTokens],
    ['Temperature', draft.temperature],
  ] as const)
    if (text.trim() !== '' && numberOf(text) === null) return `${name} must be a number.`
  return null
}

/** The answer becomes a turn, and there is room for the next question. */
export function continueDraft(draft: Draft, answer: string): Draft {
  const last = Math.max(0, ...draft.turns.map(({ id }) => id))
  const next: DraftTurn[] = [
    { id: last + 1, role: 'assistant', text: answer },
    { id: last + 2, role: 'user', text: '' },
  ]
  return { ...draft, body: null, turns: [...draft.turns, ...next] }
}

/** The lane with the most models that it can serve, so that the first press works. */
export function firstLane(models: Readonly<Record<LaneName, readonly string[]>>): LaneName {
  return laneNames.find((lane) => models[lane].length > 0) ?? 'openai'
}

function numberOf(text: string): number | null {
  const number = Number(text.trim())
  return text.trim() === '' || !Number.isFinite(number) ? null : number
}
