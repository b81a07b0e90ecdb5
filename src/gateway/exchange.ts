import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorOrigin, Fault, RecordErrorCode } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { isoTime } from '../core/iso-time.ts'
import type { ObjectsEntry } from '../core/journal-format.ts'
import type { AttemptRecord, RequestRecord, Signal, TimelineEntry, TokenUsage } from '../core/record.ts'
import type { Secret } from '../core/secret.ts'
import type { ObjectName } from '../core/stored-object.ts'
import type { Inspection, Lane, Match } from '../lanes/contract.ts'
import { lanePath } from '../lanes/index.ts'

import type { Hold } from '../policy/admit.ts'
import type { Transport } from '../providers/contract.ts'
import type { Pin } from '../routing/pinned-plan.ts'
import type { SnapshotKey } from '../store/snapshot.ts'
import type { AnswerBody } from './answer-body.ts'
import type { BodyLease } from './body-memory.ts'
import type { BodyTap } from './body-tap.ts'
import type { Listed } from './live-list.ts'
import type { BatchResults } from './objects/batch-results.ts'
import type { InputWatch } from './objects/input-watch.ts'
import type { Upload } from './upload.ts'

/** Strings that a client chooses are cut to this on the record, so that a record's size is bounded. */
const textLimit = 512
const none: readonly ObjectName[] = []

/**
 * One request on its way through: plain fields that the steps of the pipeline fill in, and from which the record is
 * made. Only the server and the relay touch `request` and `response`.
 */
export class Exchange implements Listed {
  /** Among the open exchanges of its thread. */
  place = -1
  readonly id: string
  readonly receivedAt = Date.now()
  readonly time = isoTime(this.receivedAt)
  /** Monotonic; all `…_ms` of the record count from here. */
  readonly started = performance.now()
  /** Monotonic: the request has arrived whole. What a client's own slowness takes is no part of the call's limits. */
  complete = this.started
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly clientAddress: string | null

  lane: Lane | null = null
  match: Match | null = null
  /** Path and query as asked; the query never leaves the exchange unstripped. */
  readonly path: string
  query: string
  /** The gateway key as presented, so that it can be kept from going up anywhere. Never printed. */
  presented: string | null = null
  key: SnapshotKey | null = null
  body: Buffer = Buffer.alloc(0)
  /** Where `body` lies, if it is to be used again. */
  memory: BodyLease | null = null
  /** Of the room for bodies, what its own have taken. */
  roomTaken = 0
  /** In place of `body`, which is empty then: a body that goes up while it arrives. */
  upload: Upload | null = null
  inspection: Inspection | null = null
  tags: Record<string, string>
  /** What policy reserved; given back when the exchange settles. */
  hold: Hold | null = null

  /** What the call names of stored objects; all of it is the caller's and lives where `pin` says. */
  named: readonly ObjectName[] = none
  pin: Pin | null = null
  /** What the journal shall hold of objects when it settles. */
  objects: ObjectsEntry | null = null
  /** Of an upload that may be a batch's input file. */
  input: InputWatch | null = null
  /** Where its answer may bring the results of a batch. */
  results: BatchResults | null = null

  route: string | null = null
  provider: string | null = null
  upstreamModel: string | null = null
  attempts: AttemptRecord[] = []
  timeline: TimelineEntry[] = [{ event: 'received', at_ms: 0 }]
  policySignals: Signal[] = []
  routingSignals: Signal[] = []
  providerRequestId: string | null = null
  firstByteMs: number | null = null
  responseBytes = 0

  /** Where a policy wants the bodies kept. */
  capture: BodyTap | null = null

  /** Where the bytes of an answer of unknown length go, once its head is out. */
  output: AnswerBody | null = null
  /** The response head has gone out (200) before the provider answered: what follows can only end in an error event. */
  opened = false
  /** Monotonic moment of the last bytes to the client, and whether they ended an event: heartbeats go only between events. */
  lastWriteAt = 0
  betweenEvents = true
  #stopHeartbeat: (() => void) | null = null
  /** The client hung up. */
  gone = false
  /** Why the gateway ends this exchange before its answer is complete. */
  ending: Fault | null = null
  settled = false
  /** The provider's credential out of a client's token, used in place of the stored one. */
  clientSecret: { secret: Secret; model: string | null } | null = null
  /** Of a WebSocket: the way to its provider in place of the transport, and bytes of the client's messages. */
  handshake: Transport | null = null
  frameBytes = 0
  #onDrain: (() => void) | null = null
  #onGone: (() => void) | null = null

  constructor(request: IncomingMessage, response: ServerResponse, clientAddress: string | null) {
    this.id = newId('req', this.receivedAt)
    this.request = request
    this.response = response
    this.clientAddress = clientAddress
    const url = originForm(request.url ?? '/')
    const mark = url.indexOf('?')
    this.path = lanePath(mark < 0 ? url : url.slice(0, mark))
    this.tags = readTags(request.headers['x-sp-tag'])
    this.query = mark < 0 ? '' : url.slice(mark)
  }

  header(name: string): string | null {
    const value = this.request.headers[name]
    return typeof value === 'string' ? value : null
  }

  /** Nobody waits for an answer any more: the client hung up, or the gateway ends this exchange. */
  get stopped(): boolean {
    return this.gone || this.ending !== null
  }

  /**
   * Whom to tell that the client hung up, or that the gateway ends this exchange; one at a time. A method, not a property to write a function
   * to: V8 makes such a function old from the start, and all that it knows outlives its request (decision 10).
   */
  whenGone(act: (() => void) | null): void {
    this.#onGone = act
  }

  tellGone(): void {
    this.#onGone?.()
  }

  /** Of a WebSocket: the gateway is about to stop, and what nobody needs may end now. */
  whenDraining(act: (() => void) | null): void {
    this.#onDrain = act
  }

  tellDraining(): void {
    this.#onDrain?.()
  }

  beginHeartbeat(stop: () => void): void {
    this.#stopHeartbeat = stop
  }

  get hasHeartbeat(): boolean {
    return this.#stopHeartbeat !== null
  }

  stopHeartbeat(): void {
    this.#stopHeartbeat?.()
  }

  /** Ends the exchange from this side, wherever it stands; without effect on one that has its end. */
  stop(reason: Fault): void {
    if (this.stopped || this.settled) return
    this.ending = reason
    this.tellGone()
  }

  elapsed(): number {
    return this.since(performance.now())
  }

  /** Milliseconds from the start to a monotonic moment. */
  since(moment: number): number {
    return Math.round((moment - this.started) * 1000) / 1000
  }

  mark(event: TimelineEntry['event'], atMs = this.elapsed()): void {
    this.timeline.push({ event, at_ms: atMs })
  }

  /** The nearer to the request, the stronger: the key's, the body's end user, the header's. */
  #allTags(): Record<string, string> {
    const endUser = this.inspection?.endUser ?? null
    return { ...this.key?.tags, ...(endUser === null ? {} : { user: endUser }), ...this.tags }
  }

  record(
    state: RequestRecord['state'],
    end: ExchangeEnd | null,
    tokens: TokenUsage | null = end?.tokens ?? null,
  ): RequestRecord {
    const key = this.key
    return {
      id: this.id,
      state,
      time: this.time,
      lane: this.lane?.name ?? null,
      operation: this.match?.endpoint.operation ?? null,
      project: key?.project ?? null,
      environment: key?.environment ?? null,
      key: key === null ? null : { id: key.id, name: key.name },
      model: cut(this.inspection?.model ?? this.match?.pathModel ?? null),
      route: this.route,
      provider: this.provider,
      upstream_model: cut(this.upstreamModel),
      status: end?.status ?? null,
      error: end?.error ?? null,
      streamed: this.inspection?.streamed ?? false,
      tokens,
      cost: null,
      duration_ms: end === null ? null : this.elapsed(),
      first_byte_ms: this.firstByteMs,
      attempts: this.attempts,
      timeline: this.timeline,
      policy_signals: this.policySignals,
      routing_signals: this.routingSignals,
      losses: [],
      provider_request_id: cut(this.providerRequestId),
      request_bytes: this.upload?.received ?? this.body.length + this.frameBytes,
      response_bytes: this.responseBytes,
      client: { address: this.clientAddress, user_agent: cut(this.request.headers['user-agent'] ?? null) },
      tags: this.#allTags(),
    }
  }
}

/** Clients that take the gateway for a proxy name its origin as well (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
}

export interface ExchangeEnd {
  /** As the client saw it; 499 when it hung up before any status. */
  status: number
  error: { code: RecordErrorCode; origin: ErrorOrigin; message: string } | null
  tokens: TokenUsage | null
}

const tagLimit = 8
const tagBytes = 64

/** `x-sp-tag: k=v`, repeated or separated by commas (contract.md rule 21); what does not fit is left out. */
function readTags(header: string | string[] | undefined): Record<string, string> {
  if (header === undefined) return {}
  const pairs = String(header)
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => Buffer.byteLength(pair) <= tagBytes)
  const tags = pairs.map((pair) => /^([^=]+)=(.*)$/.exec(pair)).filter((match) => match !== null)
  return Object.fromEntries(tags.slice(0, tagLimit).map(([, name = '', value = '']) => [name.trim(), value.trim()]))
}

function cut(text: string | null): string | null {
  return text !== null && text.length > textLimit ? `${text.slice(0, textLimit)}…` : text
}
