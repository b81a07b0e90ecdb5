import { asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { tooLongWords } from '../../core/too-long.ts'
import { type ErrorKind, kindsOfStatuses, type ReplyError } from '../reply.ts'

/** Source: wire/errors.md, sections 2 and 4. */
const kindsOfTypes: Readonly<Record<string, ErrorKind>> = {
  invalid_request_error: 'invalid',
  permission_error: 'permission',
  not_found_error: 'not-found',
  conflict_error: 'conflict',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limit',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  // These concern the gateway's own account: no client can fix them.
  authentication_error: 'internal',
  billing_error: 'internal',
}

export function readMessagesError(status: number, body: JsonObject | null): ReplyError {
  const error = asObject(body?.error)
  const message = asText(error?.message) ?? asText(body?.message) ?? `The provider answered with the status ${status}.`
  const type = asText(error?.type) ?? ''
  const byStatus =
    kindsOfStatuses[status] ?? (status >= 500 || status === 401 || status === 402 ? 'internal' : 'invalid')
  const kind = ownValue(kindsOfTypes, type) ?? byStatus
  return {
    status,
    kind: kind === 'invalid' ? kindOfWords(message) : kind,
    message: withoutAccount(message),
    param: null,
  }
}

function kindOfWords(message: string): ErrorKind {
  if (tooLongWords.test(message)) return 'context-length'
  return /blocked by content filtering/i.test(message) ? 'content-filter' : 'invalid'
}

/** Ids of organisations and workspaces belong to the operator. */
function withoutAccount(message: string): string {
  return message.replace(/\b(?:org|wrkspc|proj)[-_][A-Za-z0-9-]{8,}/g, '…')
}

const written: Readonly<Record<ErrorKind, { status: number; type: string }>> = {
  invalid: { status: 400, type: 'invalid_request_error' },
  'context-length': { status: 400, type: 'invalid_request_error' },
  'content-filter': { status: 400, type: 'invalid_request_error' },
  permission: { status: 403, type: 'permission_error' },
  'not-found': { status: 404, type: 'not_found_error' },
  conflict: { status: 409, type: 'conflict_error' },
  'too-large': { status: 413, type: 'request_too_large' },
  'rate-limit': { status: 429, type: 'rate_limit_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
  timeout: { status: 504, type: 'timeout_error' },
  internal: { status: 500, type: 'api_error' },
}

/** Clients recognise a prompt that is too long by Anthropic's words. */
export function writeMessagesError(
  { kind, message, param }: ReplyError,
  requestId: string,
): { status: number; body: JsonObject } {
  const { status, type } = written[kind]
  const words =
    kind === 'context-length' && !/prompt is too long/i.test(message) ? `prompt is too long: ${message}` : message
  const details = param === null ? null : { param }
  return { status, body: { type: 'error', error: { type, message: words, details }, request_id: requestId } }
}
