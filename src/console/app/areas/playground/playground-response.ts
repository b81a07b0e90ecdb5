import type { SentEvent } from '../../../../admin/contract/requests/send.ts'
import { valueAt } from '../../../../admin/contract/show-value.ts'

/** A response as far as it has been received. */
export interface PlaygroundResponse {
  state: 'waiting' | 'coming' | 'ended' | 'stopped' | 'failed'
  text: string
  /** What the lane sent, piece by piece. */
  raw: string
  begin: Extract<SentEvent, { kind: 'begin' }> | null
  firstTextMs: number | null
  durationMs: number | null
  /** Why it broke off. */
  error: string | null
}

export const emptyResponse: PlaygroundResponse = {
  state: 'waiting',
  text: '',
  raw: '',
  begin: null,
  firstTextMs: null,
  durationMs: null,
  error: null,
}

/** More than this of what was sent is of no use on a page. */
const mostRaw = 400_000

export function applyEvent(answer: PlaygroundResponse, event: SentEvent): PlaygroundResponse {
  switch (event.kind) {
    case 'begin':
      return { ...answer, state: 'coming', begin: event }
    case 'part':
      return {
        ...answer,
        text: answer.text + event.text,
        raw: answer.raw.length < mostRaw ? answer.raw + event.raw : answer.raw,
        firstTextMs: answer.firstTextMs ?? (event.text === '' ? null : event.at_ms),
      }
    case 'end':
      return {
        ...answer,
        state: event.error === null ? 'ended' : 'failed',
        durationMs: event.duration_ms,
        firstTextMs: event.first_text_ms ?? answer.firstTextMs,
        error: event.error,
      }
  }
}

/** What the gateway or the provider says is wrong, in every lane's form of it; null: nothing is, or it says it otherwise. */
export function refusalOf({ begin, raw }: Pick<PlaygroundResponse, 'begin' | 'raw'>): string | null {
  if (begin === null || begin.status < 400) return null
  try {
    const parsed: unknown = JSON.parse(raw)
    const message = valueAt(valueAt(Array.isArray(parsed) ? parsed[0] : parsed, 'error'), 'message')
    return typeof message === 'string' && message !== '' ? message : null
  } catch {
    return null
  }
}
