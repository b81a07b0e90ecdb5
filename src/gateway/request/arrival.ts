import type { IncomingMessage, ServerResponse } from 'node:http'
import { recordedAddress } from '../../addresses/recorded-address.ts'
import type { Fault } from '../../core/errors.ts'
import { flatText } from '../../core/flat-text.ts'
import { newId } from '../../core/ids.ts'
import type { Lane, Match } from '../../lanes/contract.ts'
import { lanePath } from '../../lanes/index.ts'
import type { UnpricedRule } from '../../policy/checks.ts'
import type { TakenLimits } from '../../policy/limits/limit-counters.ts'
import { AnswerBody } from '../answer/answer-body.ts'
import type { BodyTap } from '../capture/body-tap.ts'
import type { Gateway } from '../gateway.ts'
import type { ObjectNotes } from '../objects/object-notes.ts'
import type { ListMember } from '../thread/deadlines.ts'
import type { Upload } from '../upload/upload.ts'
import type { BodyLease } from './body-memory.ts'
import type { HeldAccounts } from './held-accounts.ts'
import type { MemoryBudget, MemoryHolder } from './memory-budget.ts'
import { Trace } from './trace.ts'

/** One HTTP request as the server accepted it, before anything is known of who sends it and what it asks for. */
export class Arrival implements ListMember {
  /** Among the open requests of its thread. */
  place = -1
  readonly gateway: Gateway
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly clientAddress: string | null
  readonly receivedAt = Date.now()
  readonly id = newId('req', this.receivedAt)
  /** As asked; the query never leaves the gateway unstripped. */
  readonly path: string
  readonly query: string
  /** By the path alone; null where nothing is at that path. */
  lane: Lane | null = null
  match: Match | null = null
  readonly trace: Trace
  readonly abort = new Abort()
  readonly body = new RequestBody()
  readonly reply: ClientReply
  /** Monotonic: the request has arrived whole. What a client's own slowness takes is no part of the call's limits. */
  completeAt: number
  /** Whether it is counted as in flight: from its admission until it is settled. */
  inFlight = false
  /** What it takes of the limits and holds in the budgets of its key; null: the key has none. */
  limits: TakenLimits | null = null
  /** What it takes of the limits of accounts at providers; null: none that it may use has any. */
  accounts: HeldAccounts | null = null
  /** What the journal is to hold of objects at the provider; null for a call that has to do with none. */
  objects: ObjectNotes | null = null
  /** What a policy says of models without a price; null: nothing. */
  unpriced: UnpricedRule | null = null
  /** What of the request the provider did not get, by name; null: it got all of it. */
  lossHeader: string | null = null
  /** Whether its answer was cached; null: its route keeps none, or not for such a call. */
  cached: 'hit' | 'miss' | null = null
  /** Keeps the bodies, where a policy wants that. */
  capture: BodyTap | null = null

  constructor(gateway: Gateway, request: IncomingMessage, response: ServerResponse, clientAddress: string | null) {
    this.gateway = gateway
    this.request = request
    this.response = response
    this.clientAddress = clientAddress
    const url = originForm(request.url ?? '')
    this.reply = new ClientReply(response)
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : flatText(url.slice(0, mark))
    this.query = mark < 0 ? '' : url.slice(mark)
    const form = gateway.settings.clientAddress
    const recorded = form === 'full' ? clientAddress : recordedAddress(clientAddress, form)
    this.trace = new Trace(this.id, this.receivedAt, recorded, request, path)
    this.path = lanePath(path)
    this.completeAt = this.trace.started
  }

  /** What the path asks for. */
  matched(lane: Lane, match: Match | null): void {
    this.lane = lane
    this.match = match
    this.trace.lane = lane.name
    this.trace.operation = match?.endpoint.operation ?? null
    const pathModel = match?.pathModel ?? null
    this.trace.model = pathModel === null ? null : flatText(pathModel)
  }

  header(name: string): string | null {
    const value = this.request.headers[name]
    return typeof value === 'string' ? value : null
  }

  /** Headers that every answer to it carries. */
  ownHeaders(): string[] {
    const { gateway, lane, limits } = this
    const headers = ['x-sp-request-id', this.id]
    const { origin } = this.request.headers
    if (origin !== undefined && allowsOrigin(gateway, origin)) headers.push(...crossOrigin(origin))
    if (this.lossHeader !== null) headers.push('x-sp-lossy', this.lossHeader)
    if (this.cached !== null) headers.push('x-sp-cache', this.cached)
    if (limits !== null && lane !== null) headers.push(...lane.limitHeaders(limits.figures, Date.now()))
    return headers
  }
}

export function crossOrigin(origin: string): string[] {
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', '*', 'vary', 'origin']
}

export function allowsOrigin({ settings }: Gateway, origin: string): boolean {
  return settings.corsOrigins.includes(origin) || settings.corsOrigins.includes('*')
}

/** Clients that take the gateway for a proxy name its origin as well (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
}

/**
 * The one way to end a request before its answer is complete: its client disconnects, or the gateway ends it for a reason that
 * the client is told (a revoked key, a limit, a drain). One step at a time listens, the one that waits for something.
 *
 * The listeners are set by methods, not by writing a function to a property: V8 makes such a function old from the start, and
 * all that it knows outlives its request (decision 0010).
 */
export class Abort {
  /** Nobody reads an answer any more. May also become true after the gateway has ended the request. */
  disconnected = false
  /** Why the gateway ends the request; null while it does not. */
  reason: Fault | null = null
  /** One of the two. */
  aborted = false
  /** The request is settled: the gateway can no longer end it otherwise. */
  settled = false
  #onAbort: (() => void) | null = null
  #onDrain: (() => void) | null = null

  disconnect(): void {
    this.disconnected = true
    this.aborted = true
    this.#onAbort?.()
  }

  /** Has no effect on a request that is aborted or settled. */
  abort(reason: Fault): void {
    if (this.aborted || this.settled) return
    this.reason = reason
    this.aborted = true
    this.#onAbort?.()
  }

  /** Replaces the listener before it; null removes it. */
  onAbort(act: (() => void) | null): void {
    this.#onAbort = act
  }

  /** For a WebSocket: the gateway is about to stop, and a connection without a response in progress may end now. */
  onDrain(act: (() => void) | null): void {
    this.#onDrain = act
  }

  drain(): void {
    this.#onDrain?.()
  }
}

const empty = Buffer.alloc(0)

const noLeases: readonly BodyLease[] = []

/** The body of one request, and all that holding it takes. It is released once, when the request has its end. */
export class RequestBody implements MemoryHolder {
  bytes: Buffer = empty
  /** In place of `bytes`, which is empty then: a body that goes up while it arrives. */
  upload: Upload | null = null
  /** Where `bytes` lies, if that memory is used again. */
  lease: BodyLease | null = null
  /** Where it lies as it was written for providers of other formats: an attempt each, and two may run at once. */
  written: readonly BodyLease[] = noLeases
  /** Bytes of the memory budget. */
  reserved = 0

  release(budget: MemoryBudget): void {
    this.upload?.close()
    if (this.reserved > 0) budget.release(this)
    this.lease?.end()
    for (const lease of this.written) lease.end()
  }
}

/** What of an answer has gone out to the client. */
export class ClientReply {
  readonly #response: ServerResponse
  #body: AnswerBody | null = null
  /** Runs while a silent stream is kept alive. */
  keepAlive: { stop(): void } | null = null
  /** The head has gone out with 200 before the provider answered: what follows can only end in an error event. */
  opened = false
  /** Monotonic moment of the last bytes, and whether they ended an event: keep-alives go only between events. */
  lastWriteAt = 0
  betweenEvents = true

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** Of an answer of unknown length, once its head is written. */
  get body(): AnswerBody {
    this.#body ??= new AnswerBody(this.#response)
    return this.#body
  }
}
