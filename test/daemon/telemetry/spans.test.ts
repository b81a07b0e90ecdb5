import { describe, expect, it } from 'vitest'
import { spanIdOf } from '../../../src/core/trace-context.ts'
import type { OtlpSpan } from '../../../src/daemon/telemetry/otlp.ts'
import { type SpanProvider, spansOf } from '../../../src/daemon/telemetry/spans.ts'
import { fellBack, sampleAttempt, sampleRecord } from '../../support/sample-record.ts'

const groq: SpanProvider = { vendor: 'groq', baseUrl: 'https://api.groq.com/openai/v1' }
const provider = () => groq

function attributes({ attributes: list }: OtlpSpan): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))
}

describe('the spans of a request', () => {
  it('are one of its own and one for each attempt, below the client’s', () => {
    const trace = { trace_id: 'a'.repeat(32), parent_id: 'b'.repeat(16), sampled: true, state: 'x=1' }
    const record = sampleRecord({ operation: 'chat', trace, attempts: fellBack('dead', 'groq') })
    const [request, failed, answered] = spansOf(record, provider)
    expect(request).toMatchObject({
      ...{ traceId: trace.trace_id, spanId: spanIdOf(record.id, 0), parentSpanId: trace.parent_id, traceState: 'x=1' },
      ...{ kind: 2, name: 'chat gpt-4o-mini', flags: 0x301 },
    })
    expect(failed).toMatchObject({
      ...{ traceId: trace.trace_id, spanId: spanIdOf(record.id, 1), parentSpanId: request?.spanId },
      ...{ kind: 3, name: 'chat m', flags: 0x101, status: { code: 2 } },
    })
    expect(answered).toMatchObject({ spanId: spanIdOf(record.id, 2), parentSpanId: request?.spanId })
    expect(answered).not.toHaveProperty('status')
  })

  it('say what the conventions for generative AI ask for', () => {
    const attempts = [sampleAttempt('groq', 'answered', 200)]
    const tokens = { input: 10, output: 5, cache_read: 4, cache_write: 0, reasoning: 2, source: 'reported' } as const
    const [, attempt] = spansOf(sampleRecord({ operation: 'messages', attempts, tokens }), provider)
    expect(attempt && attributes(attempt)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'groq',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': '10',
      'gen_ai.usage.output_tokens': '5',
      'gen_ai.usage.cache_read.input_tokens': '4',
      'gen_ai.usage.reasoning.output_tokens': '2',
      'server.address': 'api.groq.com',
      'server.port': '443',
      'http.response.status_code': '200',
    })
  })

  it.each([
    ['one attempt', [sampleAttempt('groq', 'answered', 200)]],
    ['a fallback', fellBack('dead', 'groq')],
    ['none, like a line of a batch', []],
  ])('have usage once, with %s', (_what, attempts) => {
    const spans = spansOf(sampleRecord({ attempts }), provider)
    const counted = spans.filter((span) => 'gen_ai.usage.input_tokens' in attributes(span))
    expect(counted).toHaveLength(1)
  })

  it('name the error, which is the server’s only where it is its own', () => {
    const error = (code: 'invalid_key' | 'provider_timeout', origin: 'client' | 'network') =>
      spansOf(sampleRecord({ status: 401, error: { code, origin, message: 'Why.' } }), provider)[0]
    const clients = error('invalid_key', 'client')
    expect(clients && attributes(clients)).toMatchObject({ 'error.type': 'invalid_key', 'spgw.error.origin': 'client' })
    expect(clients).not.toHaveProperty('status')
    expect(error('provider_timeout', 'network')?.status).toEqual({ code: 2, message: 'Why.' })
    const failed = spansOf(sampleRecord({ attempts: [sampleAttempt('groq', 'passed', 503)] }), provider)[1]
    expect(failed && attributes(failed)).toMatchObject({ 'error.type': '503' })
  })

  it('end where the answer ends, and an interrupted one where it began', () => {
    const time = '2026-11-25T10:00:00.250Z'
    const attempts = [{ ...sampleAttempt('groq', 'answered', 200), started_ms: 1.5, ended_ms: 20 }]
    const timeline = [{ event: 'last_byte' as const, at_ms: 90.25 }]
    const [request, attempt] = spansOf(sampleRecord({ time, attempts, timeline, duration_ms: 100 }), provider)
    expect(request).toMatchObject({
      startTimeUnixNano: '1795600800250000000',
      endTimeUnixNano: '1795600800350000000',
    })
    expect(attempt).toMatchObject({ startTimeUnixNano: '1795600800251500000', endTimeUnixNano: '1795600800340250000' })
    const interrupted = spansOf(sampleRecord({ time, state: 'interrupted', duration_ms: null, status: null }), provider)
    expect(interrupted[0]).toMatchObject({ endTimeUnixNano: '1795600800250000000', status: { code: 2 } })
  })
})
