import { errorTable, type Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { errorObject, shortMessage } from '../base-reader.ts'
import type { AnswerReader, RenderedError, StreamedError } from '../contract.ts'
import { renderAnswer, renderEvent } from '../rendered-error.ts'

/** Source: wire/errors.md, section 2; the statuses are the gateway's own. */
const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  426: 'invalid_request_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
}

/** After this code the SDK's threads, and with them its tool runner, send the whole conversation. Source: its `ThreadState.recoversFrom`. */
const lostThread = 'thread_not_found'

function errorBody(fault: Fault, requestId: string) {
  const type = fault.code === 'overloaded' ? 'overloaded_error' : types[errorTable[fault.code].status]
  const error_code = fault.code === 'not_translatable' && fault.param === 'thread' ? lostThread : fault.code
  const details = { error_code, ...(fault.param === undefined ? {} : { param: fault.param }) }
  return {
    type: 'error',
    error: { type: type ?? 'api_error', message: fault.message, details },
    request_id: requestId,
  }
}

export function renderError(fault: Fault, requestId: string): RenderedError {
  return renderAnswer(fault, errorBody(fault, requestId))
}

/** The SDKs ignore events without a name. Source: wire/streaming.md, sections 0 and 3. */
export function streamError(fault: Fault, requestId: string, reader: AnswerReader | null): Buffer {
  return renderEvent(`event: error\ndata: ${JSON.stringify(errorBody(fault, requestId))}\n\n`, reader)
}

const statuses: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** `event`: the data of an `event: error`. */
export function readStreamedError(event: JsonObject | null): StreamedError {
  const error = errorObject(event?.error)
  return {
    code: 'provider_error',
    origin: 'provider',
    status: ownValue(statuses, String(error?.type)) ?? null,
    message: shortMessage(error?.message),
    written: error ?? {},
  }
}
