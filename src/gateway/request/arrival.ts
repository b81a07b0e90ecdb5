import type { IncomingMessage, ServerResponse } from 'node:http'
import { recordedAddress } from '../../addresses/recorded-address.ts'
import { errorStack } from '../../core/caught.ts'
import type { Fault } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { flatText } from '../../core/text/flat-text.ts'
import type { Lane, Match } from '../../lanes/contract.ts'
import { lanePath } from '../../lanes/index.ts'
import type { UnpricedRule } from '../../policy/checks.ts'
import type { TakenLimits } from '../../policy/limits/limit-counters.ts'
import { AnswerBody } from '../answer/answer-body.ts'
import type { BodyTap } from '../capture/body-tap.ts'
import type { CallContent } from '../content/call-content.ts'
import type { Gateway } from '../gateway.ts'
import type { ObjectNotes } from '../objects/object-notes.ts'
import type { ListMember } from '../thread/deadlines.ts'
import type { Upload } from '../upload/upload.ts'
import type { BodyLease } from './body-memory.ts'
import type { HeldAccounts } from './held-accounts.ts'
import type { MemoryBudget, MemoryHolder } from './memory-budget.ts'
import { Trace } from './trace.ts'

/** One HTTP request as the server accepted it, before its sender and its purpose are known. */
export class Arrival implements ListMember {
  /** Its index in the thread's list of open requests. */
  place = -1
  readonly gateway: Gateway
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly clientAddress: string | null
  readonly receivedAt = Date.now()
  readonly id = newId('req', this.receivedAt)
  /** The path as the client wrote it. The query may hold a credential, which is removed before it is sent anywhere. */
  readonly path: string
  readonly query: string
  /** Found by the path alone; null if the path belongs to no lane. */
  lane: Lane | null = null
  match: Match | null = null
  readonly trace: Trace
  readonly abort = new Abort()
  readonly body = new RequestBody()
  readonly reply: ClientReply
  /**
   * Monotonic time at which the whole request had arrived. The call's time limits count from here, so a slow client uses up none of them.
   */
  completeAt: number
  /** Whether it is counted as in flight: from its admission until it is settled. */
  inFlight = false
  /** What it takes from its key's limits and holds in its key's budgets; null: the key has none. */
  limits: TakenLimits | null = null
  /** What it takes from the limits of accounts at providers; null: no account that it may use has limits. */
  accounts: HeldAccounts | null = null
  /** What the journal will record about objects at the provider; null if the call involves none. */
  objects: ObjectNotes | null = null
  /** What a policy says about models without a price; null: no policy does. */
  unpriced: UnpricedRule | null = null
  /** Names of the request's fields that the provider did not get, for `x-sp-lossy`; null: it got all of them. */
  lossHeader: string | null = null
  /** Whether the answer came from the cache; null: the route does not cache, or not this kind of call. */
  cached: 'hit' | 'miss' | null = null
  /** Captures the bodies, where a policy asks for it. */
  capture: BodyTap | null = null
  /** What content rules have to do with it; null: none look at it. */
  content: CallContent | null = null

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

  /** Reports an exception that ends this request: a bug in the gateway. */
  reportFault(error: unknown): void {
    this.gateway.report({ type: 'fault', requestId: this.id, reason: errorStack(error) })
  }

  /** Headers that every answer to this request carries. */
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

/** The target without an origin. Clients that treat the gateway as a proxy send the origin too (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
}

/**
 * The one way to end a request before its answer is complete: its client disconnects, or the gateway ends it and tells the client why
 * (a revoked key, a limit, a drain). Only one step listens at a time: the one that waits for something.
 *
 * Listeners are set by methods, not by assigning a function to a property: V8 would allocate such a function among its old objects, and
 * everything it refers to would outlive the request (decision 0010).
 */
export class Abort {
  /** The client has disconnected. May also become true after the gateway has ended the request. */
  disconnected = false
  /** Why the gateway ends the request; null while it does not. */
  reason: Fault | null = null
  /** Disconnected, or ended by the gateway. */
  aborted = false
  /** The request is settled: from now on `abort()` has no effect. */
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

  /** For a WebSocket: the gateway is about to stop, so a connection without a response in progress may end now. */
  onDrain(act: (() => void) | null): void {
    this.#onDrain = act
  }

  drain(): void {
    this.#onDrain?.()
  }
}

const empty = Buffer.alloc(0)

const noLeases: readonly BodyLease[] = []

/** The body of one request and the memory that it takes, which is released once, at the end of the request. */
export class RequestBody implements MemoryHolder {
  bytes: Buffer = empty
  /** A body that is sent up while it arrives; `bytes` is empty then. */
  upload: Upload | null = null
  /** The memory of `bytes`, if it is reused for other bodies. */
  lease: BodyLease | null = null
  /** The memory of the body as it was written for providers of other formats, one for each attempt; two may run at once. */
  written: readonly BodyLease[] = noLeases
  /** Bytes that it takes from the memory budget. */
  reserved = 0

  release(budget: MemoryBudget): void {
    this.upload?.close()
    if (this.reserved > 0) budget.release(this)
    this.lease?.end()
    for (const lease of this.written) lease.end()
  }
}

/** How much of the answer has been sent to the client. */
export class ClientReply {
  readonly #response: ServerResponse
  #body: AnswerBody | null = null
  /** Keeps a silent stream alive; null: nothing does. */
  keepAlive: { stop(): void } | null = null
  /** The head was sent with status 200 before the provider answered: an error can only be sent as an event now. */
  opened = false
  /** Monotonic moment of the last write, and whether it ended an event: keep-alives are sent only between events. */
  lastWriteAt = 0
  betweenEvents = true

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** For an answer of unknown length, once its head is written. */
  get body(): AnswerBody {
    this.#body ??= new AnswerBody(this.#response)
    return this.#body
  }
}
