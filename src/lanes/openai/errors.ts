import { errorTable, type Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { shortMessage } from '../base-reader.ts'
import type { AnswerReader, Match, RenderedError, StreamedError } from '../contract.ts'
import { renderAnswer, renderEvent } from '../rendered-error.ts'

/** Source: wire/errors.md, section 1. */
const types: Record<number, string> = {
  403: 'permission_error',
  429: 'rate_limit_error',
  500: 'server_error',
  502: 'server_error',
  503: 'service_unavailable_error',
  504: 'server_error',
}

function errorBody(fault: Fault) {
  const type = fault.code === 'budget_exceeded' ? 'insufficient_quota' : types[errorTable[fault.code].status]
  return {
    error: {
      message: fault.message,
      type: type ?? 'invalid_request_error',
      param: fault.param ?? null,
      code: fault.code,
    },
  }
}

export function renderError(fault: Fault): RenderedError {
  return renderAnswer(fault, errorBody(fault))
}

/** Source: wire/streaming.md, sections 1 and 2. Both SDKs raise on the unnamed form for chat; for responses see `responsesError`. */
export function streamError(match: Match, fault: Fault, reader: AnswerReader | null): Buffer {
  if (match.endpoint.object?.type === 'response') return renderEvent(responsesError(fault, reader), reader)
  return renderEvent(`data: ${JSON.stringify(errorBody(fault))}\n\n`, reader)
}

/** `response.failed` once the client knows the response; before that only the flat `error` event fits. */
function responsesError(fault: Fault, reader: AnswerReader | null): string {
  const seen = reader?.seen()
  const sequenceNumber = (seen?.sequenceNumber ?? -1) + 1
  const id = seen?.responseId ?? null
  if (id === null) {
    const { message, code, param } = errorBody(fault).error
    return named({ type: 'error', code, message, param, sequence_number: sequenceNumber })
  }
  return named({
    type: 'response.failed',
    sequence_number: sequenceNumber,
    response: {
      id,
      object: 'response',
      created_at: Math.floor(Date.now() / 1000),
      status: 'failed',
      error: { code: fault.code, message: fault.message },
      incomplete_details: null,
      model: seen?.model ?? null,
      output: [],
      usage: null,
    },
  })
}

function named(event: { type: string; [member: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** What a provider's in-stream error would have been as a status. Codes: wire/streaming.md section 2, wire/errors.md section 1. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  content_filter: 400,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  credit_balance_exhausted: 429,
  billing_hard_limit_reached: 429,
  server_error: 500,
  service_unavailable_error: 503,
  server_is_overloaded: 503,
}

export function readStreamedError(error: JsonObject): StreamedError {
  const { code, type, status } = error
  const numeric = [status, code].find((value) => typeof value === 'number' && value >= 400 && value <= 599)
  const named = ownValue(statuses, String(code)) ?? ownValue(statuses, String(type)) ?? null
  return {
    code: 'provider_error',
    origin: 'provider',
    status: typeof numeric === 'number' ? numeric : named,
    message: shortMessage(error.message),
    written: error,
  }
}
