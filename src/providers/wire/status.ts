import { asArray, asObject, asString, parseJson } from '../../core/json-value.ts'
import type { AnswerHead, Meaning } from '../contract.ts'
import { readReset } from './reset-headers.ts'
import { readProtoDuration, readRetryAfter } from './retry-after.ts'

/** What an error body says, whichever of the three formats it has. Source: wire/errors.md. */
export interface ErrorBody {
  type: string
  code: string
  message: string
  /** `ErrorInfo.reason` (Gemini). */
  reason: string
  /** `RetryInfo.retryDelay` (Gemini), milliseconds. */
  retryAfterMs: number | null
}

const retried = new Set([408, 425, 429, 500, 502, 503, 504, 529])
const answer: Meaning = { verdict: 'answer' }
const caller: Meaning = { verdict: 'caller' }

/**
 * The rule that all kinds share (contract.md rule 3).
 * `override` is a kind's own reading, taken first; null leaves it to the rule.
 */
export function classifyStatus(
  head: AnswerHead,
  body: Buffer,
  override: (status: number, error: ErrorBody) => Meaning | null = () => null,
): Meaning {
  const { status } = head
  if (status < 300) return answer
  const error = readErrorBody(body)
  const own = override(status, error)
  if (own) return own
  if (status === 401) return { verdict: 'credential-rejected' }
  if (status === 402) return { verdict: 'quota-exhausted' }
  if (status === 403) return { verdict: 'credential-doubtful' }
  if (retried.has(status) || (status === 409 && namesLock(error))) {
    const asked = readRetryAfter(head.headers) ?? error.retryAfterMs
    return { verdict: 'retry', retryAfterMs: asked ?? (status === 429 ? readReset(head.headers) : null) }
  }
  return caller
}

/** A 409 is worth repeating only while somebody else holds the object; an "already exists" never heals. */
function namesLock(error: ErrorBody): boolean {
  return /(^|[^a-z])lock(ed|s|ing)?([^a-z]|$)/i.test(`${error.code} ${error.type} ${error.message}`)
}

/** Lenient: Gemini may wrap the body in an array of one, and compatible servers put a string where the object belongs. */
export function readErrorBody(body: Buffer): ErrorBody {
  const parsed = parseJson(body)
  const whole = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  const error = asObject(whole?.error) ?? whole
  const details = asArray(error?.details).map(asObject)
  const retry = details.find((detail) => detail?.retryDelay !== undefined)
  return {
    type: asString(error?.type),
    code: asString(error?.code),
    message: asString(error?.message) || asString(whole?.error),
    reason: asString(details.find((detail) => detail?.reason !== undefined)?.reason),
    retryAfterMs: readProtoDuration(retry?.retryDelay),
  }
}
