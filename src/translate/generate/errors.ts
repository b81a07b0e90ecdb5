import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { tooLongWords } from '../../core/too-long.ts'
import type { ErrorKind, ReplyError } from '../reply.ts'

/** Source: wire/errors.md, sections 3 and 4. */
export function readGenerateError(status: number, body: JsonObject | null): ReplyError {
  const error = asObject(body?.error) ?? body ?? {}
  const message = asText(error.message) ?? `The provider answered with the status ${status}.`
  const details = asArray(error.details).map(asObject)
  const violation = details.flatMap((detail) => asArray(detail?.fieldViolations)).map(asObject)[0]
  const reasons = details.map((detail) => asText(detail?.reason))
  return {
    status,
    kind: kindOf(status, message, asText(error.status), reasons),
    message: withoutAccount(message),
    param: asText(violation?.field),
  }
}

const kinds: Readonly<Record<string, ErrorKind>> = {
  INVALID_ARGUMENT: 'invalid',
  FAILED_PRECONDITION: 'invalid',
  OUT_OF_RANGE: 'invalid',
  PERMISSION_DENIED: 'permission',
  NOT_FOUND: 'not-found',
  ABORTED: 'conflict',
  ALREADY_EXISTS: 'conflict',
  RESOURCE_EXHAUSTED: 'rate-limit',
  UNAVAILABLE: 'overloaded',
  DEADLINE_EXCEEDED: 'timeout',
}

const statuses: Readonly<Record<number, ErrorKind>> = {
  400: 'invalid',
  403: 'permission',
  404: 'not-found',
  409: 'conflict',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
}

/** A wrong key of the gateway's own is a 400 here, and nothing that a client can change. */
function kindOf(status: number, message: string, word: string | null, reasons: readonly (string | null)[]): ErrorKind {
  if (reasons.includes('API_KEY_INVALID') || status === 401) return 'internal'
  const kind = ownValue(kinds, word ?? '') ?? statuses[status] ?? (status < 500 ? 'invalid' : 'internal')
  return kind === 'invalid' && tooLongWords.test(message) ? 'context-length' : kind
}

/** Project numbers belong to the operator. */
function withoutAccount(message: string): string {
  return message.replace(/\b(?:projects?[/ ]|project_number:|consumer ')\S+/gi, '…')
}

const written: Readonly<Record<ErrorKind, { status: number; word: string }>> = {
  invalid: { status: 400, word: 'INVALID_ARGUMENT' },
  'context-length': { status: 400, word: 'INVALID_ARGUMENT' },
  'content-filter': { status: 400, word: 'INVALID_ARGUMENT' },
  permission: { status: 403, word: 'PERMISSION_DENIED' },
  'not-found': { status: 404, word: 'NOT_FOUND' },
  conflict: { status: 409, word: 'ABORTED' },
  'too-large': { status: 400, word: 'INVALID_ARGUMENT' },
  'rate-limit': { status: 429, word: 'RESOURCE_EXHAUSTED' },
  overloaded: { status: 503, word: 'UNAVAILABLE' },
  timeout: { status: 504, word: 'DEADLINE_EXCEEDED' },
  internal: { status: 500, word: 'INTERNAL' },
}

const typePrefix = 'type.googleapis.com/google.rpc.'

/** Google's clients read the wait from here, and from no header. */
export function writeGenerateError({ kind, message, param, retryAfterMs }: ReplyError) {
  const { status, word } = written[kind]
  const violations = [{ field: param, description: message }]
  const details = [
    ...(param === null ? [] : [{ '@type': `${typePrefix}BadRequest`, fieldViolations: violations }]),
    ...(retryAfterMs === undefined
      ? []
      : [{ '@type': `${typePrefix}RetryInfo`, retryDelay: `${Math.ceil(retryAfterMs / 1000)}s` }]),
  ]
  const error = { code: status, message, status: word, ...(details.length > 0 && { details }) }
  return { status, body: { error } satisfies JsonObject }
}
