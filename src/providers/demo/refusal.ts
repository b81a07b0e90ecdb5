import type { LaneName } from '../../core/lane.ts'
import { answerJson, type DemoAnswer, demoId } from './answer.ts'

const words = {
  400: { openai: 'invalid_request_error', anthropic: 'invalid_request_error', gemini: 'INVALID_ARGUMENT' },
  404: { openai: 'invalid_request_error', anthropic: 'not_found_error', gemini: 'NOT_FOUND' },
  429: { openai: 'rate_limit_error', anthropic: 'rate_limit_error', gemini: 'RESOURCE_EXHAUSTED' },
} as const

/** An error as a provider of that format would word it. Source: wire/errors.md. */
export function refuse(lane: LaneName, status: keyof typeof words, message: string): DemoAnswer {
  const type = words[status][lane]
  const headers = status === 429 ? ['retry-after', '1'] : []
  switch (lane) {
    case 'openai': {
      const code = status === 429 ? 'rate_limit_exceeded' : null
      return answerJson(status, { error: { message, type, param: null, code } }, [
        ...headers,
        'x-request-id',
        demoId('req_'),
      ])
    }
    case 'anthropic': {
      const id = demoId('req_')
      return answerJson(status, { type: 'error', error: { type, message }, request_id: id }, [
        ...headers,
        'request-id',
        id,
      ])
    }
    case 'gemini': {
      const details = status === 429 ? [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }] : []
      return answerJson(status, { error: { code: status, message, status: type, details } }, headers)
    }
  }
}
