import { asArray, asObject, asString, type JsonObject, parseJson } from '../../core/json/json-value.ts'
import type { AnswerHead, Meaning, ProviderError } from '../contract.ts'
import { readReset } from './reset-headers.ts'
import { readProtoDuration, readRetryAfter } from './retry-after.ts'

const retried = new Set([408, 425, 429, 500, 502, 503, 504, 529])
const answer: Meaning = { verdict: 'answer' }
const caller: Meaning = { verdict: 'caller' }

/**
 * The rule that all kinds share (contract.md rule 3).
 * `override` is a kind's own reading, taken first; null leaves it to the rule.
 */
export function classifyStatus(
  head: AnswerHead,
  error: ProviderError,
  override: (status: number, error: ProviderError) => Meaning | null = () => null,
): Meaning {
  const { status } = head
  if (status < 300) return answer
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
function namesLock(error: ProviderError): boolean {
  return /(^|[^a-z])lock(ed|s|ing)?([^a-z]|$)/i.test(`${error.code} ${error.type} ${error.message}`)
}

/** Lenient: Gemini may wrap the body in an array of one, and compatible servers put a string where the object belongs. */
export function readErrorBody(body: Buffer): ProviderError {
  const parsed = parseJson(body)
  const whole = asObject(Array.isArray(parsed) ? parsed[0] : parsed)
  const error = readError(asObject(whole?.error) ?? whole)
  return { ...error, message: error.message || asString(whole?.error) }
}

/** The error itself, as it stands in a body or in an event of a stream. */
export function readError(error: JsonObject | null | undefined): ProviderError {
  const details = asArray(error?.details).map(asObject)
  const retry = details.find((detail) => detail?.retryDelay !== undefined)
  return {
    type: asString(error?.type),
    code: asString(error?.code),
    message: asString(error?.message),
    reason: asString(details.find((detail) => detail?.reason !== undefined)?.reason),
    retryAfterMs: readProtoDuration(retry?.retryDelay),
  }
}
