import type { LaneName } from '../../../../core/lane.ts'

export interface ReadBody {
  /** null: the body names none. */
  model: string | null
  /** null: the body does not show it. */
  lane: LaneName | null
  /** What is wrong with it; null: nothing, or there is none. */
  fault: string | null
}

/** Reads model and lane from a request body. Gemini bodies have no model: it is in the path. */
export function readBody(text: string): ReadBody {
  if (text.trim() === '') return { model: null, lane: null, fault: null }
  try {
    const body: unknown = JSON.parse(text)
    const model: unknown = Reflect.get(Object(body), 'model')
    return { model: typeof model === 'string' && model !== '' ? model : null, lane: laneOf(Object(body)), fault: null }
  } catch {
    return { model: null, lane: null, fault: 'This is not valid JSON.' }
  }
}

function laneOf(body: object): LaneName | null {
  if ('contents' in body) return 'gemini'
  if ('input' in body || 'max_completion_tokens' in body) return 'openai'
  if ('messages' in body && ('system' in body || 'max_tokens' in body)) return 'system' in body ? 'anthropic' : null
  return null
}
