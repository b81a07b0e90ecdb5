import { describe, expect, it } from 'vitest'
import { SseFramer } from '../../src/core/bytes/sse.ts'
import { errorCodes, errorTable, fault } from '../../src/core/errors.ts'
import type { Lane } from '../../src/lanes/contract.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { findLane } from '../../src/lanes/index.ts'
import { openReader } from '../support/open-reader.ts'

const requestId = 'req_1'
const lane = (prefix: string): Lane => {
  const found = findLane(prefix)
  if (found === null) throw new Error(prefix)
  return found
}
const [openai, anthropic, gemini] = [lane('/v1'), lane('/v1/anthropic'), lane('/v1/gemini')]

function render(of: Lane, ...[code, message, more]: Parameters<typeof fault>) {
  const { status, headers, body } = of.renderError(fault(code, message, more), requestId)
  return { status, headers: Object.fromEntries(headers), body: JSON.parse(body.toString()) as unknown }
}

/** Code → error type or status word on the three lanes (wire/errors.md). */
const words: Record<(typeof errorCodes)[number], [string, string, string]> = {
  missing_key: ['invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  provider_key_rejected: ['invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  invalid_key: ['invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  conflicting_credentials: ['invalid_request_error', 'authentication_error', 'UNAUTHENTICATED'],
  scope_mismatch: ['permission_error', 'permission_error', 'PERMISSION_DENIED'],
  model_not_found: ['invalid_request_error', 'not_found_error', 'NOT_FOUND'],
  object_not_found: ['invalid_request_error', 'not_found_error', 'NOT_FOUND'],
  unknown_path: ['invalid_request_error', 'not_found_error', 'NOT_FOUND'],
  policy_denied: ['permission_error', 'permission_error', 'PERMISSION_DENIED'],
  rate_limited: ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  budget_exceeded: ['insufficient_quota', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  request_too_large: ['invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
  invalid_request: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  not_translatable: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  provider_not_ready: ['service_unavailable_error', 'api_error', 'UNAVAILABLE'],
  object_index_unavailable: ['service_unavailable_error', 'api_error', 'UNAVAILABLE'],
  provider_credential_rejected: ['server_error', 'api_error', 'UNAVAILABLE'],
  provider_unreachable: ['server_error', 'api_error', 'UNAVAILABLE'],
  provider_timeout: ['server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
  provider_bad_response: ['server_error', 'api_error', 'UNAVAILABLE'],
  overloaded: ['service_unavailable_error', 'overloaded_error', 'UNAVAILABLE'],
  internal: ['server_error', 'api_error', 'INTERNAL'],
  provider_unspecified: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  provider_quota_exhausted: ['service_unavailable_error', 'api_error', 'UNAVAILABLE'],
  websocket_unavailable: ['invalid_request_error', 'invalid_request_error', 'FAILED_PRECONDITION'],
  unsupported_transfer: ['invalid_request_error', 'api_error', 'UNIMPLEMENTED'],
}

describe.each(errorCodes)('%s', (code) => {
  const { status, final } = errorTable[code]
  const [openaiType, anthropicType, geminiStatus] = words[code]
  const headers = { 'content-type': 'application/json', ...(final ? { 'x-should-retry': 'false' } : {}) }

  it('has the OpenAI shape', () => {
    const error = { message: 'why', type: openaiType, param: null, code }
    expect(render(openai, code, 'why')).toEqual({ status, headers, body: { error } })
  })

  it('has the Anthropic shape', () => {
    const error = { type: anthropicType, message: 'why', details: { error_code: code } }
    expect(render(anthropic, code, 'why')).toEqual({
      status,
      headers,
      body: { type: 'error', error, request_id: requestId },
    })
  })

  it('has the Gemini shape', () => {
    const info = { reason: code.toUpperCase(), domain: 'spgw', metadata: { request_id: requestId } }
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }]
    const error = { code: status, message: 'why', status: geminiStatus, details }
    expect(render(gemini, code, 'why')).toEqual({ status, headers, body: { error } })
  })
})

it('what a provider of another format has no place for is the client’s own', () => {
  expect(errorTable.not_translatable.origin).toBe('client')
})

describe('renderError', () => {
  it('tells when to come back, in whole seconds rounded up', () => {
    for (const of of [openai, anthropic, gemini]) {
      expect(render(of, 'rate_limited', 'wait', { retryAfterMs: 36_001 }).headers['retry-after']).toBe('37')
      expect(render(of, 'rate_limited', 'wait', { retryAfterMs: 0 }).headers['retry-after']).toBe('1')
    }
    expect(render(gemini, 'rate_limited', 'wait', { retryAfterMs: 36_001 }).body).toMatchObject({
      error: { details: [{}, { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '37s' }] },
    })
  })

  it('lets the fault overrule the table on retries', () => {
    expect(render(openai, 'provider_timeout', 'x', { shouldRetry: false }).headers['x-should-retry']).toBe('false')
    expect(render(openai, 'budget_exceeded', 'x', { shouldRetry: true }).headers['x-should-retry']).toBeUndefined()
  })

  it('names the parameter', () => {
    const more = { param: 'model' }
    expect(render(openai, 'invalid_request', 'x', more).body).toMatchObject({ error: { param: 'model' } })
    expect(render(anthropic, 'invalid_request', 'x', more).body).toMatchObject({
      error: { details: { param: 'model' } },
    })
    expect(render(gemini, 'invalid_request', 'x', more).body).toMatchObject({
      error: { details: [{}, { fieldViolations: [{ field: 'model', description: 'x' }] }] },
    })
  })
})

/** The stream's last event after `sent` has gone out; `sent` null: nothing but keep-alives. */
function brokenStream(call: string, body: string, sent: string | null, release = false): string {
  const { lane: of, match, inspection, reader } = openReader(`POST ${call}`, Buffer.from(body))
  if (inspection.framing === null) throw new Error(body)
  const framer = openFramer(inspection.framing)
  for (const event of framer.push(Buffer.from(sent ?? ''))) reader.event(event)
  const last = release ? framer.release() : framer.rest()
  if (last !== null) reader.event(last)
  const broken = fault('provider_timeout', 'too slow')
  return of.streamError(match, broken, requestId, sent === null ? null : reader).toString()
}

function onlyEvent(text: string): { name: string; data: unknown } {
  const framer = new SseFramer()
  const [event, ...more] = framer.push(Buffer.from(text))
  if (event === undefined || more.length > 0 || framer.pending > 0) throw new Error(`not one whole event: ${text}`)
  return { name: event.name, data: JSON.parse(event.data.toString()) as unknown }
}

describe('streamError', () => {
  const body = '{"model":"m","stream":true}'
  const responses = '/v1/responses'

  it('is unnamed for chat', () => {
    const error = { message: 'too slow', type: 'server_error', param: null, code: 'provider_timeout' }
    expect(onlyEvent(brokenStream('/v1/chat/completions', body, null))).toEqual({ name: '', data: { error } })
  })

  it('is response.failed once the response is known', () => {
    const sent =
      'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"gpt-5"}}\n\n' +
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":41,"delta":"\\"sequence_number\\":99"}\n\n'
    const { name, data } = onlyEvent(brokenStream(responses, body, sent))
    expect(name).toBe('response.failed')
    expect(data).toMatchObject({
      type: 'response.failed',
      sequence_number: 42,
      response: {
        id: 'resp_1',
        status: 'failed',
        model: 'gpt-5',
        error: { code: 'provider_timeout', message: 'too slow' },
      },
    })
  })

  it('is a flat error event before the response is known', () => {
    const error = { type: 'error', code: 'provider_timeout', message: 'too slow', param: null, sequence_number: 0 }
    expect(onlyEvent(brokenStream(responses, body, null))).toEqual({ name: 'error', data: error })
    expect(onlyEvent(brokenStream(responses, body, ''))).toEqual({ name: 'error', data: error })
  })

  it('first ends a large event that was cut in the middle', () => {
    const [path, sent] = ['/v1/chat/completions', 'data: {"choices":[{"delta":{"content":"half']
    expect(brokenStream(path, body, sent, true)).toMatch(/^\n\ndata: \{"error"/)
    expect(brokenStream(path, body, sent)).toMatch(/^data: \{"error"/)
  })

  it('is a named error for messages', () => {
    const { name, data } = onlyEvent(brokenStream('/v1/anthropic/v1/messages', body, null))
    expect(name).toBe('error')
    expect(data).toMatchObject({ type: 'error', error: { type: 'timeout_error' }, request_id: requestId })
  })

  it('is an unnamed error for Gemini as SSE', () => {
    const { name, data } = onlyEvent(
      brokenStream('/v1/gemini/v1/models/g:streamGenerateContent?alt=sse', '{}', 'data: {}\r\n\r\n'),
    )
    expect(name).toBe('')
    expect(data).toMatchObject({ error: { code: 504, status: 'DEADLINE_EXCEEDED' } })
  })

  it.each([
    ['', 0],
    ['[{"candidates":[]}', 1],
    ['[{}\n,\n{}', 2],
  ])('keeps the array %j valid', (sent, before) => {
    const text = sent + brokenStream('/v1/gemini/v1/models/g:streamGenerateContent', '{}', sent)
    const array = JSON.parse(text) as unknown[]
    expect(array).toHaveLength(before + 1)
    expect(array.at(-1)).toMatchObject({ error: { code: 504 } })
  })
})

describe('keep-alive', () => {
  it('is what the SDKs bear, on endpoints that stream', () => {
    const beat = (of: Lane, path: string) => {
      const match = of.match('POST', path)
      return match === null ? undefined : of.keepAlive(match)?.toString()
    }
    expect(beat(openai, '/chat/completions')).toBe(': keep-alive\n\n')
    expect(beat(openai, '/embeddings')).toBeUndefined()
    expect(beat(anthropic, '/v1/messages')).toBe('event: ping\ndata: {"type": "ping"}\n\n')
    expect(beat(gemini, '/v1/models/g:streamGenerateContent')).toBeUndefined()
  })
})
