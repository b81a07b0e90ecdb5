import type { IncomingMessage } from 'node:http'
import type { ErrorOrigin, RecordErrorCode } from '../../core/errors.ts'
import type { LaneName } from '../../core/lane.ts'
import type {
  AttemptRecord,
  Cost,
  RequestRecord,
  Signal,
  TimelineEntry,
  TokenUsage,
  UsageDetail,
} from '../../core/record.ts'
import { isoTime } from '../../core/text/flat-text.ts'
import { readTraceContext, type TraceContext } from '../../core/trace-context.ts'
import type { Inspection } from '../../lanes/contract.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'

export interface PricedModel {
  vendor: string | null
  model: string
}

type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>

/**
 * What is known of a request so far, as its record will show it. Every step writes here what it finds out, so that a request that ends
 * early has a record too: what is still null is null on the record.
 */
export class Trace {
  readonly id: string
  readonly time: string
  /** Monotonic; every `…_ms` of the record counts from here. */
  readonly started = performance.now()
  lane: LaneName | null = null
  operation: string | null = null
  key: SnapshotKey | null = null
  model: string | null = null
  streamed = false
  endUser: string | null = null
  readonly #method: string | null
  readonly #path: string | null
  readonly #client: RequestRecord['client']
  readonly #tags: Readonly<Record<string, string>>
  /** The client's distributed trace. */
  readonly context: TraceContext | null
  route: string | null = null
  /** The request that this one copies, if it is a shadow request. */
  shadowOf: string | null = null
  provider: string | null = null
  upstreamModel: string | null = null
  /** The vendor and model whose price applies; null: nothing was sent, or the provider costs nothing. */
  priced: PricedModel | null = null
  /** Only the answer says which model's price applies. */
  isPricedByAnswer = false
  cost: Cost | null = null
  /** For a connection: the sum of its answers' costs, each priced by itself. */
  turnsCost: Cost | null = null
  /** The service tier in the answer's headers, on the one lane that has it there. */
  statedTier: string | null = null
  /** The tokens charged for the last attempt if it was cut before its answer came; null: it was not cut. */
  cutTokens: TokenUsage | null = null
  readonly attempts: AttemptRecord[] = []
  readonly timeline: TimelineEntry[] = [{ event: 'received', at_ms: 0 }]
  readonly policySignals: Signal[] = []
  readonly routingSignals: Signal[] = []
  providerRequestId: string | null = null
  /** How the answer's attempt was translated; null: it was not translated. */
  translation: { readonly losses: readonly string[] } | null = null
  firstByteMs: number | null = null
  requestBytes = 0
  responseBytes = 0

  /** `path`: without the query; '' if the request's head could not be parsed. */
  constructor(
    id: string,
    receivedAt: number,
    clientAddress: string | null,
    { method, headers }: RequestHead,
    path: string,
  ) {
    this.id = id
    this.#method = method ?? null
    this.#path = path === '' ? null : cut(path)
    this.time = isoTime(receivedAt)
    this.#client = { address: clientAddress, user_agent: cut(headers['user-agent'] ?? null) }
    const { traceparent, tracestate } = headers
    this.context = traceparent === undefined ? null : readTraceContext(String(traceparent), tracestate?.toString())
    const tags = headers['x-sp-tag']
    this.#tags = tags === undefined ? noTags : parseTags(String(tags))
  }

  /**
   * What the call asks for. Later steps may learn more: only the answer to a form says whether it streams, and a frame may name the model.
   */
  noteInspection({ model, streamed, endUser }: Inspection): void {
    this.model = model ?? this.model
    this.streamed = streamed
    this.endUser = endUser
  }

  elapsed(): number {
    return this.since(performance.now())
  }

  /** Milliseconds from the start to a monotonic moment. */
  since(moment: number): number {
    return Math.round((moment - this.started) * 1000) / 1000
  }

  beginAttempt(provider: string, upstreamModel: string): AttemptRecord {
    const before = this.attempts.at(-1)
    // Another credential of the same provider: neither a wait nor a fallback.
    if (before?.outcome === 'passed') before.outcome = 'retry'
    const startedMs = this.elapsed()
    const attempt: AttemptRecord = {
      provider,
      upstream_model: upstreamModel,
      status: null,
      outcome: 'started',
      started_ms: startedMs,
      connected_ms: null,
      first_byte_ms: null,
      ended_ms: null,
      message: null,
      cost: null,
    }
    this.attempts.push(attempt)
    this.cutTokens = null
    this.mark('attempt', startedMs)
    return attempt
  }

  recordTimes(
    attempt: AttemptRecord,
    { connected, firstByte }: { connected: number | null; firstByte: number | null },
  ): void {
    attempt.connected_ms = connected === null ? null : this.since(connected)
    attempt.first_byte_ms = firstByte === null ? null : this.since(firstByte)
    if (attempt.connected_ms !== null) this.mark('connected', attempt.connected_ms)
    if (attempt.first_byte_ms !== null) this.mark('first_byte', attempt.first_byte_ms)
    attempt.ended_ms = this.elapsed()
  }

  /** Records a retry or fallback. If an error was to be passed to the client, its attempt's outcome becomes that step. */
  recordStep(signal: Signal): void {
    this.routingSignals.push(signal)
    const last = this.attempts.at(-1)
    if (last?.outcome === 'passed') last.outcome = signal.rule
  }

  mark(event: TimelineEntry['event'], atMs = this.elapsed()): void {
    this.timeline.push({ event, at_ms: atMs })
  }

  /** Records a target that was not called, and when that was decided. */
  skipped(signal: Signal): void {
    const atMs = this.elapsed()
    this.routingSignals.push({ ...signal, data: { ...signal.data, at_ms: atMs } })
    this.mark('skipped', atMs)
  }

  /** A note for operators among the routing signals. */
  note(rule: string, text: string): void {
    this.routingSignals.push({ rule, verdict: 'note', text })
  }

  /** Like `note`, but only once, however many attempts there are. */
  noteOnce(rule: string, text: string): void {
    if (!this.routingSignals.some((signal) => signal.text === text)) this.note(rule, text)
  }

  /** The request record at this moment. `end` is null until the request has ended. */
  record(
    state: RequestRecord['state'],
    end: RequestEnd | null,
    tokens: TokenUsage | null = end?.tokens ?? this.cutTokens,
  ): RequestRecord {
    const { key } = this
    return {
      id: this.id,
      state,
      node: null,
      time: this.time,
      lane: this.lane,
      operation: this.operation,
      method: this.#method,
      path: this.#path,
      project: key?.project ?? null,
      environment: key?.environment ?? null,
      key: key === null ? null : { id: key.id, name: key.name },
      model: cut(this.model),
      route: this.route,
      provider: this.provider,
      upstream_model: cut(this.upstreamModel),
      status: end?.status ?? null,
      error: end?.error ?? null,
      streamed: this.streamed,
      tokens,
      usage_detail: end?.detail ?? null,
      cost: this.cost,
      estimate_error: null,
      duration_ms: end === null ? null : this.elapsed(),
      first_byte_ms: this.firstByteMs,
      shadow_of: this.shadowOf,
      trace: this.context,
      attempts: this.attempts,
      timeline: this.timeline,
      policy_signals: this.policySignals,
      routing_signals: this.routingSignals,
      losses: this.translation === null ? [] : [...this.translation.losses],
      reasoning: this.attempts.at(-1)?.reasoning ?? null,
      provider_request_id: cut(this.providerRequestId),
      request_bytes: this.requestBytes,
      response_bytes: this.responseBytes,
      client: this.#client,
      tags: this.#allTags(),
    }
  }

  /** Of tags with the same name the most specific one wins: the key's, then the end user in the body, then the header's. */
  #allTags(): Record<string, string> {
    const user = this.endUser
    // Nearly every request.
    if (user === null && this.#tags === noTags) return this.key?.tags ?? noTags
    return { ...this.key?.tags, ...(user === null ? noTags : { user }), ...this.#tags }
  }
}

export interface RequestEnd {
  /** The status that the client saw; 499 if it disconnected before any. */
  status: number
  error: { code: RecordErrorCode; origin: ErrorOrigin; message: string } | null
  tokens: TokenUsage | null
  /** Absent: none. */
  detail?: UsageDetail | null
  /** Its vendor charges nothing for it. Absent: it does. */
  free?: boolean
  /** Of an answer in parts: what those before the last came to, which `tokens` and `detail` are without. */
  earlier?: EarlierParts
}

/** The earlier parts of an answer. The provider counts and charges each part by itself. */
export interface EarlierParts {
  count: number
  tokens: TokenUsage | null
  detail: UsageDetail | null
  cost: Cost | null
}

/** The longest that a string chosen by a client may be on the record, so that records stay bounded in size. */
const textLimit = 512

function cut(text: string | null): string | null {
  return text !== null && text.length > textLimit ? `${text.slice(0, textLimit)}…` : text
}

const noTags: Readonly<Record<string, string>> = Object.freeze({})
const tagLimit = 8
const tagBytes = 64

/** `x-sp-tag: k=v`, repeated or separated by commas (contract.md rule 21). Tags beyond the limits are dropped. */
function parseTags(header: string): Record<string, string> {
  const pairs = header
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => Buffer.byteLength(pair) <= tagBytes)
  const tags = pairs.map((pair) => /^([^=]+)=(.*)$/.exec(pair)).filter((match) => match !== null)
  return Object.fromEntries(tags.slice(0, tagLimit).map(([, name = '', value = '']) => [name.trim(), value.trim()]))
}
