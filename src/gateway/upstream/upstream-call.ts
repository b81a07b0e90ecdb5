import { Pieces } from '../../core/bytes/pieces.ts'
import type { StreamEvent, StreamFramer } from '../../core/bytes/stream-event.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { formatDuration } from '../../core/units.ts'
import type { AnswerReader, EventReading } from '../../lanes/contract.ts'
import { holdsTooMuch } from '../../lanes/json-tree.ts'
import type { ResponseSink, Sending, TransportFault } from '../../providers/contract.ts'
import type { MemoryHolder } from '../request/memory-budget.ts'
import { CallLimits } from '../thread/deadlines.ts'
import type { AnswerConsumer, Gated, Head, UpstreamOptions, UpstreamTimes } from './answer-consumer.ts'
import { findHeader } from './headers.ts'

/** Most bytes that are held before the first content, or of a whole answer until it is complete (contract.md rule 22). */
const heldLimit = 1024 * 1024
/** The same for an answer that the gateway must read. */
const readLimit = 16 * 1024 * 1024
/** Memory that a held event takes in addition to its bytes. */
const eventCost = 256
/**
 * After this many events the next turn of the loop goes on, so that other requests are served: a single read gives up to 2 MiB, which may
 * be a million of the smallest events.
 */
const burstEvents = 1000
/** A chunk is cut into events in pieces of this size; the rest of it may wait for the next turn. */
const cutBytes = 8 * 1024
/** A larger event is passed on in pieces. */
const eventLimit = 1024 * 1024

const noHead: Head = { status: 0, headers: [] }

/**
 * One call to a provider: takes its bytes, holds them behind the commit gate until content has begun, keeps the time
 * limits, and lets them through. All its methods run on one thread; the sink's come from the transport.
 *
 * | state | what has happened | bytes of the provider | a failure |
 * |---|---|---|---|
 * | `held` | nothing has reached the client | are held | resolves the gate: another attempt may follow |
 * | `open` | the gate has resolved with an answer | go to the consumer; until one is attached they are held | ends the consumer |
 * | `over` | the call ended, failed or was aborted | are dropped | has no effect |
 *
 * The head decides the form of the answer: `stream` (events, which open the gate with the first content), `whole` (a document, which opens
 * it when it is complete), `flow` (bytes that open it at once, also a document that became too large), `error` (not 2xx, kept whole).
 */
export class UpstreamCall implements ResponseSink, MemoryHolder {
  reserved = 0
  readonly gate: Promise<Gated>
  readonly times: UpstreamTimes = { connected: null, firstByte: null }
  readonly reader: AnswerReader
  readonly #options: UpstreamOptions
  readonly #limits: CallLimits
  readonly #resolve: (gated: Gated) => void
  #sending: Sending | null = null
  #state: 'held' | 'open' | 'over' = 'held'

  head: Head = noHead
  #form: 'undecided' | 'stream' | 'whole' | 'flow' | 'error' = 'undecided'
  /** Only for the form `stream`. */
  #framer: StreamFramer | null = null

  // What waits for the gate to open, or for a consumer.
  #held: Pieces | null = null
  #heldEvents: [StreamEvent, EventReading][] = []
  #heldBytes = 0
  #consumer: AnswerConsumer | null = null
  #deferred: ((consumer: AnswerConsumer) => void)[] = []

  // The provider is not read while the client is slow, nor while other requests have their turn.
  #paused = false
  #yielding = false
  /** Events read in this turn of the event loop. */
  #burst = 0
  /** The rest of a chunk, for the next turn. */
  #unread: Buffer | null = null

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.reader = options.reader
    const { promise, resolve } = Promise.withResolvers<Gated>()
    this.gate = promise
    this.#resolve = resolve
    this.#limits = new CallLimits(options, () => this.#timeOut())
  }

  get #isOpen(): boolean {
    return this.#state === 'open'
  }

  get #isOver(): boolean {
    return this.#state === 'over'
  }

  begin(sending: Sending): void {
    this.#sending = sending
    if (this.#isOver) sending.abort()
  }

  /** Passes the call's bytes to `consumer`, the held ones first. */
  attach(consumer: AnswerConsumer): void {
    this.#consumer = consumer
    for (const [event, reading] of this.#heldEvents.splice(0)) consumer.event(event, reading)
    for (const chunk of this.#held?.list() ?? []) consumer.chunk(chunk)
    this.#held = null
    consumer.flush()
    for (const act of this.#deferred.splice(0)) act(consumer)
  }

  abort(): void {
    this.#finish()
    this.#sending?.abort()
    // Has no effect if the gate is open already.
    this.#resolve({ kind: 'aborted' })
  }

  pause(): void {
    this.#limits.waitForClient()
    this.#paused = true
    this.#sending?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#limits.waitForProvider()
    this.#readOn()
  }

  bodySent(): void {
    if (this.#state !== 'over') this.#limits.bodySent()
  }

  /** The provider has stopped reading an upload. */
  bodyStalled(): void {
    this.#fail(
      fault(
        'provider_timeout',
        `The provider took no more of the body for ${formatDuration(this.#options.limits.betweenChunks)}. Try again, or ask for a longer limit.`,
      ),
    )
  }

  onConnected(): void {
    this.times.connected = performance.now()
    this.#limits.enterFirstByte(this.#options.streamed)
  }

  onHead(status: number, headers: string[]): void {
    if (this.#isOver) return
    this.head = { status, headers }
    // A WebSocket has opened: its frames are not bytes of this call.
    if (status === 101) return this.#let({ kind: 'flow', head: this.head })
    this.#form = this.#decideForm(status, headers)
    if (this.#form === 'stream') this.#framer = this.#options.framer
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return
    this.times.firstByte ??= performance.now()
    if (this.#unread !== null) this.#unread = Buffer.concat([this.#unread, chunk])
    else this.#read(chunk)
    // Before content, the limit for the first byte keeps running: pings and headers do not extend it.
    if (this.#isOpen || !this.#options.streamed) this.#limits.enterBetweenChunks()
  }

  #read(chunk: Buffer): void {
    if (this.#framer !== null) {
      this.#readEvents(this.#framer, chunk)
    } else if (this.#isOpen) {
      this.#consumer === null ? this.#keep(chunk) : this.#consumer.chunk(chunk)
    } else {
      this.#hold(chunk)
    }
    this.#consumer?.flush()
    if (this.#burst > burstEvents) this.#yieldTurn()
  }

  #readEvents(framer: StreamFramer, chunk: Buffer): void {
    for (let from = 0; from < chunk.length; from += cutBytes) {
      if (this.#burst > burstEvents) {
        this.#unread = chunk.subarray(from)
        return
      }
      const events = framer.push(chunk.length <= cutBytes ? chunk : chunk.subarray(from, from + cutBytes))
      for (const event of events) this.#onEvent(event)
      this.#burst += events.length
      if (framer.pending > eventLimit) this.#onEvent(framer.release())
    }
  }

  /** Continues reading in the next turn of the event loop, unless the client is slow by then. */
  #yieldTurn(): void {
    this.#burst = 0
    if (this.#isOver || this.#yielding) return
    this.#yielding = true
    this.#sending?.pause()
    setImmediate(() => {
      this.#yielding = false
      this.#readOn()
    })
  }

  #readOn(): void {
    if (this.#isOver || this.#paused || this.#yielding) return
    const unread = this.#unread
    this.#unread = null
    if (unread !== null) this.#read(unread)
    if (!this.#yielding) this.#sending?.resume()
  }

  /** The transport has ended while it was paused: reads what is left. */
  #readUnread(): void {
    const unread = this.#unread
    this.#unread = null
    for (const event of (unread && this.#framer?.push(unread)) ?? []) this.#onEvent(event)
  }

  onEnd(): void {
    this.#readUnread()
    if (this.#isOver) return
    const head = this.head
    if (this.#form === 'error') return this.#let({ kind: 'error', head, body: this.#heldBody() }, true)
    if (this.#form === 'whole') return this.#endWhole(head)
    if (this.#form === 'flow')
      return this.#isOpen ? this.#end(null) : this.#let({ kind: 'whole', head, body: Buffer.alloc(0) }, true)
    this.#onEvent(this.#framer?.rest() ?? null)
    if (this.#isOver) return
    const missing = this.reader.end()
    if (this.#isOpen) return this.#end(missing)
    if (missing === null && this.#heldEvents.length > 0) this.#let({ kind: 'stream', head, held: this.#heldEvents })
    else
      this.#fail(
        fault(
          'provider_bad_response',
          `The provider's stream ended too early: ${missing ?? 'it was empty'}. Try again.`,
        ),
      )
    if (this.#isOpen) this.#end(null)
  }

  onError(error: TransportFault): void {
    this.#readUnread()
    if (this.#isOver) return
    const { kind, message } = error
    if (kind === 'connect-timeout') return this.#fail(timeoutFault('connect', this.#options.limits.connect), kind)
    if (kind === 'exhausted') return this.#fail(fault('overloaded', message, { retryAfterMs: 1000 }), kind)
    if (kind === 'denied') return this.#fail(fault('policy_denied', message), kind)
    // A server that does not speak HTTP was still reached.
    if (this.head === noHead && kind !== 'protocol')
      return this.#fail(fault('provider_unreachable', `${message} Try again later.`), kind)
    this.#fail(fault('provider_bad_response', `${message} Try again.`), kind)
  }

  #decideForm(status: number, headers: string[]): 'stream' | 'whole' | 'flow' | 'error' {
    if (status < 200 || status > 299) return 'error'
    const encoding = findHeader(headers, 'content-encoding')?.toLowerCase() ?? ''
    const type = findHeader(headers, 'content-type')?.toLowerCase() ?? ''
    if (encoding !== '' && encoding !== 'identity') return 'flow'
    const { streamed, framer, streamType, responseForm } = this.#options
    if (framer !== null && (type === '' ? streamed : type.startsWith(streamType))) return 'stream'
    // A provider that answers a streamed call with one JSON document is passed as such (some do for errors or short answers).
    return responseForm === 'bytes' || responseForm === 'lines' ? 'flow' : 'whole'
  }

  #hold(chunk: Buffer): void {
    this.#keep(chunk)
    this.#heldBytes += chunk.length
    if (this.#form === 'flow') return this.#letFlow()
    if (this.#heldBytes <= (this.#mayHold() ? readLimit : heldLimit)) return
    if (this.#form === 'error') {
      this.#let({ kind: 'error', head: this.head, body: this.#heldBody() }, true)
      this.#sending?.abort()
      return
    }
    this.#form = 'flow'
    this.#letFlow()
  }

  #mayHold(): boolean {
    const { mustRead, budget } = this.#options
    return mustRead && this.#form === 'whole' && budget.reserve(this, this.#heldBytes)
  }

  #letFlow(): void {
    const { responseForm } = this.#options
    if (responseForm === 'bytes' || responseForm === 'lines') this.#limits.dropTotal()
    this.#let({ kind: 'flow', head: this.head })
  }

  #keep(chunk: Buffer): void {
    this.#held ??= new Pieces()
    this.#held.add(chunk)
  }

  #heldBody(): Buffer {
    return this.#held?.join() ?? Buffer.alloc(0)
  }

  #onEvent(event: StreamEvent | null): void {
    if (event === null || this.#isOver) return
    const reading = this.reader.event(event)
    if (this.#isOpen) {
      this.#consumer === null ? this.#heldEvents.push([event, reading]) : this.#consumer.event(event, reading)
      return
    }
    this.#heldEvents.push([event, reading])
    if (reading.error !== null) return this.#let({ kind: 'error-event', head: this.head, error: reading.error })
    this.#heldBytes += event.bytes.length + eventCost
    if (reading.content || reading.terminal || this.#heldBytes > heldLimit)
      this.#let({ kind: 'stream', head: this.head, held: this.#heldEvents })
  }

  #endWhole(head: Head): void {
    const body = this.#heldBody()
    // Reading it would block the thread for too long.
    if (this.#options.mustRead && holdsTooMuch(body)) {
      this.#let({ kind: 'flow', head })
      return this.#end(null)
    }
    const wrong = this.#needsReading(head, body) ? this.reader.body(body).wrong : null
    if (wrong !== null)
      return this.#fail(fault('provider_bad_response', `The provider's answer is not what it promised: ${wrong}.`))
    this.#let({ kind: 'whole', head, body }, true)
  }

  #needsReading(head: Head, body: Buffer): boolean {
    const { responseForm, mayBeEmpty } = this.#options
    if (responseForm === 'nothing' || (body.length === 0 && mayBeEmpty)) return false
    return (
      responseForm !== 'json-or-text' ||
      !/^(?!application\/json)./i.test(findHeader(head.headers, 'content-type') ?? '')
    )
  }

  #let(gated: Gated, last = false): void {
    this.#state = 'open'
    if (last) this.#finish()
    this.#resolve(gated)
  }

  #end(missing: string | null): void {
    this.#finish()
    this.#deliver((consumer) => consumer.ended(missing))
  }

  #fail(reason: Fault, transport: TransportFault['kind'] | null = null): void {
    if (this.#isOver) return
    const wasOpen = this.#isOpen
    this.#finish()
    this.#sending?.abort()
    if (wasOpen) this.#deliver((consumer) => consumer.failed(reason, transport))
    else this.#resolve({ kind: 'failed', fault: reason, transport })
  }

  #deliver(act: (consumer: AnswerConsumer) => void): void {
    if (this.#consumer !== null) act(this.#consumer)
    else this.#deferred.push(act)
  }

  #finish(): void {
    this.#state = 'over'
    if (this.reserved > 0) this.#options.budget.release(this)
    this.#limits.end()
  }

  #timeOut(): void {
    if (this.#paused && this.#limits.hasNoTotal) return this.#consumer?.stalled()
    const { name, ms } = this.#limits.exceeded()
    this.#fail(timeoutFault(name, ms))
  }
}

function timeoutFault(limit: string, ms: number): Fault {
  return fault(
    'provider_timeout',
    `The provider kept silent beyond the ${limit} limit of ${formatDuration(ms)}. Try again, or ask for a longer limit.`,
  )
}
