import type { AttemptRecord, RequestRecord } from '../../core/record.ts'
import { ownTraceId, spanIdOf } from '../../core/trace-context.ts'
import { operationName, providerName, usageAttributes } from './gen-ai.ts'
import {
  attributesOf,
  clientKind,
  localParent,
  type OtlpEvent,
  type OtlpSpan,
  remoteParent,
  sampledFlag,
  serverKind,
} from './otlp.ts'

/** What is known of a provider by its name, for the spans of its attempts. */
export interface SpanProvider {
  /** Kind, or the preset of a compatible one. */
  vendor: string
  baseUrl: string
}

/**
 * A request as spans: one for the request, below the client's where it named one, and below that one for each attempt at a
 * provider. Usage is on one span alone, so that sums count it once: on the attempt that answered, else on the request.
 */
export function spansOf(record: RequestRecord, provider: (name: string) => SpanProvider | null): OtlpSpan[] {
  const answered = record.attempts.findLastIndex(({ outcome }) => outcome === 'answered' || outcome === 'passed')
  return [
    requestSpan(record, answered < 0),
    ...record.attempts.map((attempt, index) => {
      const isLast = index === answered
      return attemptSpan(record, attempt, { place: index + 1, isLast, provider: provider(attempt.provider) })
    }),
  ]
}

function requestSpan(record: RequestRecord, hasUsage: boolean): OtlpSpan {
  const { trace, error } = record
  const parent = trace === null ? {} : { parentSpanId: trace.parent_id }
  return {
    ...traceOf(record),
    spanId: spanIdOf(record.id, 0),
    ...parent,
    flags: sampledFlag | (trace === null ? localParent : remoteParent),
    name: nameOf(record, record.model),
    kind: serverKind,
    ...timesOf(record, 0, record.duration_ms),
    attributes: attributesOf({
      'gen_ai.operation.name': record.operation === null ? null : operationName(record.operation),
      'gen_ai.request.model': record.model,
      'http.request.method': record.method,
      'url.path': record.path,
      'http.response.status_code': record.status,
      'user_agent.original': record.client.user_agent,
      'client.address': record.client.address,
      'error.type': record.state === 'interrupted' ? 'interrupted' : (error?.code ?? null),
      'spgw.request.id': record.id,
      'spgw.project': record.project,
      'spgw.environment': record.environment,
      'spgw.key.id': record.key?.id ?? null,
      'spgw.key.name': record.key?.name ?? null,
      'spgw.lane': record.lane,
      'spgw.route': record.route,
      'spgw.error.origin': error?.origin ?? null,
      'spgw.cost.usd': record.cost?.usd ?? null,
      'spgw.streamed': record.streamed,
      ...(hasUsage ? usageAttributes(record.tokens) : {}),
      ...Object.fromEntries(Object.entries(record.tags).map(([name, value]) => [`spgw.tag.${name}`, value])),
    }),
    ...requestStatus(record),
  }
}

/** A client's own mistake is no error of the server (semantic conventions for HTTP). */
function requestStatus({ state, error }: RequestRecord): Pick<OtlpSpan, 'status'> {
  if (state === 'interrupted') return { status: { code: 2, message: 'The gateway crashed before this request ended.' } }
  if (error === null || error.origin === 'client' || error.origin === 'policy') return {}
  return { status: { code: 2, message: error.message } }
}

interface AttemptPlace {
  place: number
  /** Its answer is the request's. */
  isLast: boolean
  provider: SpanProvider | null
}

function attemptSpan(
  record: RequestRecord,
  attempt: AttemptRecord,
  { place, isLast, provider }: AttemptPlace,
): OtlpSpan {
  const failure = failureOf(attempt)
  return {
    ...traceOf(record),
    spanId: spanIdOf(record.id, place),
    parentSpanId: spanIdOf(record.id, 0),
    flags: sampledFlag | localParent,
    name: nameOf(record, attempt.upstream_model),
    kind: clientKind,
    // Until its first content an attempt can fail; from then on it lasts as long as its answer.
    ...timesOf(record, attempt.started_ms, isLast ? lastByteOf(record, attempt) : attempt.ended_ms),
    attributes: attributesOf({
      'gen_ai.operation.name': record.operation === null ? null : operationName(record.operation),
      'gen_ai.provider.name': provider === null ? attempt.provider : providerName(provider.vendor),
      'gen_ai.request.model': attempt.upstream_model === '' ? null : attempt.upstream_model,
      ...addressOf(provider),
      'http.response.status_code': attempt.status,
      'error.type': failure,
      'spgw.provider': attempt.provider,
      'spgw.attempt.outcome': attempt.outcome,
      'spgw.cost.usd': attempt.cost?.usd ?? null,
      ...(isLast ? usageAttributes(record.tokens) : {}),
    }),
    ...eventsOf(record, attempt),
    ...(failure === null
      ? {}
      : { status: { code: 2, ...(attempt.message === null ? {} : { message: attempt.message }) } }),
  }
}

function addressOf(provider: SpanProvider | null): Record<string, string | number | null> {
  const url = provider === null ? null : URL.parse(provider.baseUrl)
  if (url === null || url.hostname === '') return {}
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}

/** The status of a failed call, else what kept it from having one; null: it succeeded, or its client left. */
function failureOf({ status, outcome }: AttemptRecord): string | null {
  if (status !== null && status >= 400) return String(status)
  return ['answered', 'passed', 'aborted', 'started'].includes(outcome) ? null : outcome
}

function lastByteOf({ timeline, duration_ms }: RequestRecord, { ended_ms }: AttemptRecord): number | null {
  return timeline.findLast(({ event }) => event === 'last_byte')?.at_ms ?? duration_ms ?? ended_ms
}

function eventsOf(record: RequestRecord, { connected_ms, first_byte_ms }: AttemptRecord): { events?: OtlpEvent[] } {
  const moments = [
    ['connected', connected_ms],
    ['first_byte', first_byte_ms],
  ] as const
  const events = moments.flatMap(([name, at]): OtlpEvent[] =>
    at === null ? [] : [{ timeUnixNano: nanoAt(record, at), name, attributes: [] }],
  )
  return events.length === 0 ? {} : { events }
}

function traceOf({ id, trace }: RequestRecord): Pick<OtlpSpan, 'traceId' | 'traceState'> {
  if (trace === null) return { traceId: ownTraceId(id) }
  return { traceId: trace.trace_id, ...(trace.state === null ? {} : { traceState: trace.state }) }
}

function nameOf({ operation, method, path }: RequestRecord, model: string | null): string {
  if (operation === null) return path === null ? 'request' : `${method ?? 'GET'}`
  return model === null || model === '' ? operationName(operation) : `${operationName(operation)} ${model}`
}

function timesOf(record: RequestRecord, startMs: number, endMs: number | null) {
  return {
    startTimeUnixNano: nanoAt(record, startMs),
    // Nobody knows when an interrupted one ended.
    endTimeUnixNano: nanoAt(record, Math.max(startMs, endMs ?? startMs)),
  }
}

function nanoAt({ time }: RequestRecord, afterMs: number): string {
  const start = Date.parse(time)
  return String(BigInt(Number.isNaN(start) ? 0 : start) * 1_000_000n + BigInt(Math.round(afterMs * 1e6)))
}
