import type { Fault } from '../core/errors.ts'
import { fault } from '../core/errors.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import type { EventReading } from '../lanes/contract.ts'
import type { CallConsumer, Head } from './call.ts'
import type { Exchange, ExchangeEnd } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { findHeader, headersDown } from './headers.ts'
import type { Answer } from './judge.ts'
import { ownHeaders, refuse } from './respond.ts'
import { providerRequestId } from './send.ts'
import { clientClosed, endOfFault, settle, tokensOf } from './settle.ts'

/** Bytes to the client with back-pressure; the last of them only after the settled entry stands in the journal. */
export async function relay(
  gateway: Gateway,
  exchange: Exchange,
  answer: Answer,
  retryAfterMs: number | null,
): Promise<void> {
  const { gated } = answer
  exchange.providerRequestId = providerRequestId(gated.head)
  exchange.firstByteMs = answer.attempt.first_byte_ms
  if (gated.kind === 'error' || gated.kind === 'whole') exchange.stopHeartbeat?.()
  if (gated.kind === 'error') return passError(gateway, exchange, answer, retryAfterMs)
  if (gated.kind === 'whole') return passWhole(gateway, exchange, answer, gated.body)
  exchange.mark('content')
  return new Promise((resolve) => {
    const flow =
      gated.kind === 'stream'
        ? new StreamRelay(gateway, exchange, answer, resolve)
        : new FlowRelay(gateway, exchange, answer, resolve)
    flow.begin(gated.head)
  })
}

function writeHead(
  gateway: Gateway,
  exchange: Exchange,
  head: Head,
  more: readonly string[],
  retryAfterMs: number | null = null,
): void {
  if (exchange.opened || exchange.gone) return
  exchange.response.writeHead(head.status, [
    ...headersDown(head.headers, retryAfterMs),
    ...ownHeaders(gateway, exchange),
    ...more,
  ])
}

async function passWhole(gateway: Gateway, exchange: Exchange, answer: Answer, body: Buffer): Promise<void> {
  if (exchange.opened) {
    // The client was promised a stream; a document in its place would be read as nothing.
    return refuse(
      gateway,
      exchange,
      fault('provider_bad_response', 'The provider answered a streamed call with a whole document.'),
    )
  }
  const { head } = answer.gated
  exchange.responseBytes = body.length
  exchange.mark('last_byte')
  await settle(gateway, exchange, { status: head.status, error: null, tokens: answer.call.reader.usage() })
  if (exchange.gone) return
  writeHead(gateway, exchange, head, ['content-length', String(body.length)])
  exchange.response.end(body)
}

/** A provider's own error: status and body as they came, but for account ids. */
async function passError(
  gateway: Gateway,
  exchange: Exchange,
  answer: Answer,
  retryAfterMs: number | null,
): Promise<void> {
  const { head } = answer.gated
  const body = answer.error!.body
  const error = {
    code: 'provider_error',
    origin: 'provider',
    message: `The provider answered ${head.status}.`,
  } as const
  if (exchange.opened) {
    return refuse(
      gateway,
      exchange,
      fault('provider_bad_response', `The provider answered ${head.status} after the stream was opened.`),
    )
  }
  exchange.responseBytes = body.length
  exchange.mark('last_byte')
  await settle(gateway, exchange, { status: head.status, error, tokens: null })
  if (exchange.gone) return
  const more = ['content-length', String(body.length), 'x-sp-error', error.code, 'x-sp-error-origin', error.origin]
  writeHead(gateway, exchange, head, more, retryAfterMs)
  exchange.response.end(body)
}

/** What both kinds of flow share: back-pressure, the client's hanging up, and one end. */
abstract class Relay implements CallConsumer {
  protected readonly gateway: Gateway
  protected readonly exchange: Exchange
  protected readonly answer: Answer
  protected contentEvents = 0
  readonly #done: () => void
  #ending = false
  #paused = false

  constructor(gateway: Gateway, exchange: Exchange, answer: Answer, done: () => void) {
    this.gateway = gateway
    this.exchange = exchange
    this.answer = answer
    this.#done = done
  }

  begin(head: Head): void {
    writeHead(this.gateway, this.exchange, head, this.#length(head))
    this.exchange.onGone = () => void this.#clientGone()
    if (this.exchange.gone) void this.#clientGone()
    else this.answer.call.attach(this)
  }

  abstract event(event: StreamEvent, reading: EventReading): void
  abstract chunk(chunk: Buffer): void
  abstract ended(missing: string | null): void
  abstract failed(reason: Fault): void

  protected get over(): boolean {
    return this.#ending
  }

  protected write(bytes: Buffer): void {
    const { exchange } = this
    exchange.responseBytes += bytes.length
    exchange.lastWriteAt = performance.now()
    if (exchange.response.write(bytes) || this.#paused) return
    this.#paused = true
    this.answer.call.pause()
    exchange.response.once('drain', () => {
      this.#paused = false
      if (!this.#ending) this.answer.call.resume()
    })
  }

  /** Settles, then gives the client its last bytes; `destroy` cuts the connection instead, which is all that is left for a raw flow. */
  protected async finish(end: ExchangeEnd, last: Buffer | null, destroy = false): Promise<void> {
    if (this.#ending) return
    this.#ending = true
    const { exchange } = this
    exchange.stopHeartbeat?.()
    exchange.responseBytes += last?.length ?? 0
    exchange.mark('last_byte')
    this.answer.attempt.ended_ms = exchange.elapsed()
    await settle(this.gateway, exchange, end)
    exchange.onGone = null
    if (destroy) exchange.response.destroy()
    else if (!exchange.gone) last === null ? exchange.response.end() : exchange.response.end(last)
    this.#done()
  }

  protected tokens(complete: boolean) {
    return tokensOf(this.exchange, this.answer.call.reader, this.contentEvents, complete)
  }

  /** The length is true only of bytes that pass untouched. */
  #length(head: Head): string[] {
    const length = this.answer.gated.kind === 'flow' ? findHeader(head.headers, 'content-length') : null
    return length === null ? [] : ['content-length', length]
  }

  async #clientGone(): Promise<void> {
    this.answer.call.abort()
    this.answer.attempt.outcome = 'aborted'
    await this.finish({ status: 499, error: clientClosed, tokens: this.tokens(false) }, null)
  }
}

/** Whole events, one by one. */
class StreamRelay extends Relay {
  /** A terminal event on a lane without an end mark, with what came after it without data: goes out with the next event, or with the end. */
  #heldTerminal: Buffer | null = null
  #providerError: EventReading['error'] = null

  event(event: StreamEvent, reading: EventReading): void {
    if (this.over) return
    if (reading.content) this.contentEvents++
    if (reading.error !== null) this.#providerError = reading.error
    this.exchange.betweenEvents = event.part === 'whole' || event.part === 'tail'
    const { pass } = reading
    if (reading.error !== null || (reading.terminal && this.exchange.lane!.endMark)) return this.#complete(pass)
    if (this.#heldTerminal !== null) {
      if (event.data.length === 0) return this.#hold(pass)
      this.write(this.#heldTerminal)
      this.#heldTerminal = null
    }
    if (reading.terminal) this.#hold(pass)
    else if (pass !== null) this.write(pass)
  }

  #hold(bytes: Buffer | null): void {
    if (bytes === null) return
    this.#heldTerminal = this.#heldTerminal === null ? bytes : Buffer.concat([this.#heldTerminal, bytes])
  }

  chunk(chunk: Buffer): void {
    this.write(chunk)
  }

  ended(missing: string | null): void {
    if (missing === null) return this.#complete(null)
    this.failed(fault('provider_bad_response', `The provider's stream broke off: ${missing}.`))
  }

  failed(reason: Fault): void {
    const { exchange } = this
    const event = exchange.lane!.streamError(exchange.match!, reason, exchange.id, this.answer.call.reader)
    const last = this.#heldTerminal === null ? event : Buffer.concat([this.#heldTerminal, event])
    void this.finish(endOfFault(reason, this.tokens(false), this.answer.gated.head.status), last)
  }

  #complete(bytes: Buffer | null): void {
    this.#hold(bytes)
    const error = this.#providerError
    void this.finish(
      { status: this.answer.gated.head.status, error, tokens: this.tokens(error === null) },
      this.#heldTerminal,
    )
  }
}

/** Raw bytes, one chunk behind, so that the last of them waits for the journal. */
class FlowRelay extends Relay {
  #held: Buffer | null = null

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
  }

  ended(): void {
    void this.finish({ status: this.answer.gated.head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  failed(reason: Fault): void {
    void this.finish(endOfFault(reason, this.tokens(false), this.answer.gated.head.status), null, true)
  }
}
