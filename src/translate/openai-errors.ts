import { asObject, asText, type JsonObject } from '../core/json/json-value.ts'
import { ownValue } from '../core/own-value.ts'
import { tooLongWords } from '../core/too-long.ts'
import { type ErrorKind, kindsOfStatuses, type ReplyError } from './reply.ts'

/** OpenAI's errors, of both its formats and of servers with its API. Source: wire/errors.md, sections 1 and 4. */
export function readOpenAiError(status: number, body: JsonObject | null): ReplyError {
  // Some servers send the error itself, some a string in its place.
  const error = asObject(body?.error) ?? body ?? {}
  const said = asText(body?.error) ?? asText(error.message) ?? asText(error.detail)
  const message = said ?? `The provider answered with the status ${status}.`
  const code = asText(error.code) ?? asText(error.type) ?? ''
  const kind = kindOf(status, code)
  return {
    status,
    // Agents shorten a conversation that is too long only for this kind of error.
    kind: kind === 'invalid' && tooLongWords.test(message) ? 'context-length' : kind,
    message: withoutAccount(message),
    param: asText(error.param),
  }
}

const kindsOfCodes: Readonly<Record<string, ErrorKind>> = {
  context_length_exceeded: 'context-length',
  // llama.cpp.
  exceed_context_size_error: 'context-length',
  content_filter: 'content-filter',
  content_policy_violation: 'content-filter',
  moderation_blocked: 'content-filter',
  model_not_found: 'not-found',
  rate_limit_exceeded: 'rate-limit',
  server_is_overloaded: 'overloaded',
}

/** A 401 or 402 concerns the gateway's own account: no client can fix it. */
function kindOf(status: number, code: string): ErrorKind {
  const known = ownValue(kindsOfCodes, code) ?? kindsOfStatuses[status]
  if (known !== undefined) return known
  return status === 401 || status === 402 || status >= 500 ? 'internal' : 'invalid'
}

/** Ids of organisations and projects belong to the operator. */
function withoutAccount(message: string): string {
  return message.replace(/\b(?:org|proj)[-_][A-Za-z0-9]{8,}/g, '…')
}

const written: Readonly<Record<ErrorKind, { status: number; type: string; code: string | null }>> = {
  invalid: { status: 400, type: 'invalid_request_error', code: null },
  'context-length': { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  'content-filter': { status: 400, type: 'invalid_request_error', code: 'content_filter' },
  permission: { status: 403, type: 'permission_error', code: null },
  'not-found': { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  conflict: { status: 409, type: 'conflict_error', code: null },
  'too-large': { status: 413, type: 'invalid_request_error', code: 'request_too_large' },
  'rate-limit': { status: 429, type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  overloaded: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  timeout: { status: 504, type: 'server_error', code: null },
  internal: { status: 500, type: 'server_error', code: null },
}

export function writeOpenAiError({ kind, message, param }: ReplyError): { status: number; body: JsonObject } {
  const { status, type, code } = written[kind]
  return { status, body: { error: { message, type, param, code } } }
}

/** For the events that end a stream. */
export function openAiErrorCode(kind: ErrorKind): string {
  return written[kind].code ?? 'server_error'
}
