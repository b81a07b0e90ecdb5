import type { LaneName } from '../../src/core/lane.ts'

/** The least valid call of each lane, whole and streamed, for suites that say the same of all three. */
export interface LaneCall {
  lane: LaneName
  prefix: string
  operation: string
  /** The name of the credential header that the lane's SDK uses, and its value for a key. */
  credential(key: string): [string, string]
  call(model: string, options?: CallOptions): { path: string; body: string }
  /** Index of the mock's first event with content in the sense of contract.md rule 10. */
  firstContent: number
  /** Stands in the mock's first content, in its last event, and only there. */
  contentMark: string
  endMark: string
  /** What every error event of this lane holds. */
  errorMark: string
}

export interface CallOptions {
  stream?: boolean
  prompt?: string
  /** Laid over the body. */
  more?: Record<string, unknown>
}

export const laneCalls: readonly LaneCall[] = [
  {
    lane: 'openai',
    prefix: '/v1',
    operation: 'chat',
    credential: (key) => ['authorization', `Bearer ${key}`],
    call(model, { stream = false, prompt = 'hello', more = {} } = {}) {
      // Usage is asked for, so that the body is not on the closed list of changes.
      const streaming = stream ? { stream: true, stream_options: { include_usage: true } } : {}
      const body = { model, messages: [{ role: 'user', content: prompt }], ...streaming, ...more }
      return { path: '/v1/chat/completions', body: JSON.stringify(body) }
    },
    firstContent: 1,
    contentMark: 'Hello',
    endMark: 'data: [DONE]\n\n',
    errorMark: 'data: {"error":',
  },
  {
    lane: 'anthropic',
    prefix: '/v1/anthropic',
    operation: 'messages',
    credential: (key) => ['x-api-key', key],
    call(model, { stream = false, prompt = 'hello', more = {} } = {}) {
      const streaming = stream ? { stream: true } : {}
      const body = { model, max_tokens: 64, messages: [{ role: 'user', content: prompt }], ...streaming, ...more }
      return { path: '/v1/anthropic/v1/messages', body: JSON.stringify(body) }
    },
    firstContent: 2,
    contentMark: 'content_block_start',
    endMark: 'event: message_stop',
    errorMark: 'event: error\n',
  },
  {
    lane: 'gemini',
    prefix: '/v1/gemini',
    operation: 'generate',
    credential: (key) => ['x-goog-api-key', key],
    call(model, { stream = false, prompt = 'hello', more = {} } = {}) {
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const body = { contents: [{ role: 'user', parts: [{ text: prompt }] }], ...more }
      return { path: `/v1/gemini/v1beta/models/${model}:${verb}`, body: JSON.stringify(body) }
    },
    firstContent: 0,
    contentMark: 'Hello',
    endMark: '"finishReason":"STOP"',
    errorMark: 'data: {"error":',
  },
]

export function laneCall(lane: LaneName): LaneCall {
  const found = laneCalls.find((call) => call.lane === lane)
  if (found === undefined) throw new Error(`no call for lane ${lane}`)
  return found
}
