import { errorTable, type Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { shortMessage } from '../base-reader.ts'
import type { AnswerReader, Match, RenderedError, StreamedError } from '../contract.ts'
import { renderAnswer, renderEvent, retrySeconds } from '../rendered-error.ts'

/** Source: wire/errors.md, section 3. 502 has no status of its own there. */
const statuses: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const typePrefix = 'type.googleapis.com/google.rpc.'

function errorBody(fault: Fault, requestId: string) {
  const { status } = errorTable[fault.code]
  const details: object[] = [
    {
      '@type': `${typePrefix}ErrorInfo`,
      reason: fault.code.toUpperCase(),
      domain: 'spgw',
      metadata: { request_id: requestId },
    },
  ]
  if (fault.param !== undefined) {
    const fieldViolations = [{ field: fault.param, description: fault.message }]
    details.push({ '@type': `${typePrefix}BadRequest`, fieldViolations })
  }
  if (fault.retryAfterMs !== undefined) {
    details.push({ '@type': `${typePrefix}RetryInfo`, retryDelay: `${retrySeconds(fault.retryAfterMs)}s` })
  }
  return { error: { code: status, message: fault.message, status: statuses[status] ?? 'INTERNAL', details } }
}

export function renderError(fault: Fault, requestId: string): RenderedError {
  return renderAnswer(fault, errorBody(fault, requestId))
}

/**
 * An SSE event, or the array's last element and its closing bracket, so that the whole stays valid JSON. Interactions
 * have their own events. Source: wire/streaming.md, section 4.
 */
export function streamError(match: Match, fault: Fault, requestId: string, reader: AnswerReader | null): Buffer {
  if (match.endpoint.object?.type === 'interaction') {
    const error = { code: fault.code, message: fault.message }
    return renderEvent(`data: ${JSON.stringify({ event_type: 'error', error })}\n\n`, reader)
  }
  const body = JSON.stringify(errorBody(fault, requestId))
  const seen = reader?.seen()
  if (seen?.framing !== 'json-array') return renderEvent(`data: ${body}\r\n\r\n`, reader)
  return Buffer.from(`${seen.events === 0 ? '[' : ',\n'}${body}\n]`)
}

export function readStreamedError(error: JsonObject): StreamedError {
  const { code } = error
  return {
    code: 'provider_error',
    origin: 'provider',
    status: typeof code === 'number' && code >= 400 && code <= 599 ? code : null,
    message: shortMessage(error.message),
    written: error,
  }
}
