import { tooLongWords } from '../../core/too-long.ts'
import { readErrorBody } from './status.ts'

const lengthCodes = new Set([
  'context_length_exceeded',
  'string_above_max_length',
  'model_max_prompt_tokens_exceeded',
  'exceed_context_size_error',
])
const filterCodes = new Set([
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
  'data_inspection_failed',
])
const filterWords = /content filter|content management policy|content policy|usage policy|safety system|flagged as/i

/** What in the request a 4xx is about, in words that vendors use; null: something else. */
export function readRejectedContent(status: number, body: Buffer): 'content_filter' | 'context_length' | null {
  if (status < 400 || status > 499 || status === 401 || status === 429) return null
  const { code, type, message } = readErrorBody(body)
  if (lengthCodes.has(code) || lengthCodes.has(type) || tooLongWords.test(message)) return 'context_length'
  return filterCodes.has(code) || filterCodes.has(type) || filterWords.test(message) ? 'content_filter' : null
}
