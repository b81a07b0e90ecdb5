import { expect } from 'vitest'
import { type ErrorCode, errorTable } from '../../src/core/errors.ts'
import type { LaneName } from '../../src/core/lane.ts'

export interface ErrorAnswer {
  status: number
  headers: { get(name: string): string | null | undefined }
  body: Buffer
}

/** Status, headers and body of a gateway error, in the shape of the lane. Source: wire/errors.md, product.md section 4. */
export function expectLaneError(lane: LaneName, answer: ErrorAnswer, code: ErrorCode): void {
  const row = errorTable[code]
  const requestId = answer.headers.get('x-sp-request-id')
  expect({
    status: answer.status,
    code: answer.headers.get('x-sp-error'),
    origin: answer.headers.get('x-sp-error-origin'),
  }).toEqual({ status: row.status, code, origin: row.origin })
  expect(requestId).toMatch(/^req_[0-9a-z]{26}$/)
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  if (row.final) expect(answer.headers.get('x-should-retry')).toBe('false')
  const body: unknown = JSON.parse(answer.body.toString('utf8'))
  expect(body).toEqual(shapes[lane](code, row.status, String(requestId)))
  if (lane === 'openai') expect(answer.headers.get('x-request-id')).toBe(requestId)
  if (lane === 'anthropic') expect(answer.headers.get('request-id')).toBe(requestId)
}

/** A sentence for people: not empty, and nothing that looks like a key in it. */
const sentence = expect.stringMatching(/^(?!.*sp_live_[0-9A-Za-z]{6})(?!.*sk-[0-9A-Za-z]{8}).+/s)
const paramOrNull = expect.toSatisfy((value: unknown) => value === null || typeof value === 'string')

const shapes: Record<LaneName, (code: ErrorCode, status: number, requestId: string) => unknown> = {
  openai: (code) => ({ error: { message: sentence, type: expect.any(String), param: paramOrNull, code } }),
  anthropic: (code, _status, requestId) => ({
    type: 'error',
    error: {
      type: expect.toBeOneOf([
        'invalid_request_error',
        'authentication_error',
        'billing_error',
        'permission_error',
        'not_found_error',
        'request_too_large',
        'rate_limit_error',
        'api_error',
        'timeout_error',
        'overloaded_error',
      ]),
      message: sentence,
      details: expect.objectContaining({ error_code: code }),
    },
    request_id: requestId,
  }),
  gemini: (code, status) => ({
    error: {
      code: status,
      message: sentence,
      status: expect.stringMatching(/^[A-Z_]+$/),
      details: expect.arrayContaining([
        expect.objectContaining({
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: code.toUpperCase(),
          domain: 'spgw',
        }),
      ]),
    },
  }),
}
