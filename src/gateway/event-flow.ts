import { type Fault, fault } from '../core/errors.ts'
import type { Signal } from '../core/record.ts'
import { replaceData } from '../core/sse.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import type { EventReading, StreamedError } from '../lanes/contract.ts'
import { AnswerFlow } from './answer-flow.ts'
import { rewriteUrls, type StreamedObjects, streamedObjects } from './objects/note-answer.ts'
import { endOfFault } from './settle.ts'

/** A stream, event by event. The terminal event, or the provider's own error, waits for the journal. */
export class EventFlow extends AnswerFlow {
  /** On a lane without an end mark: a terminal event with what came after it, which may not be the last yet. */
  #held: Buffer | null = null
  #providerError: EventReading['error'] = null
  /** null: nothing that streams here is kept at the provider. */
  readonly #objects: StreamedObjects | null = streamedObjects(this.gateway, this.exchange, this.answer)

  /** Its events may hold URLs that a client would follow. */
  readonly #leads = this.exchange.match!.endpoint.answersHoldUrls

  event(event: StreamEvent, reading: EventReading): void {
    const { clean } = this.answer
    const led = this.#leads ? this.#lead(event, reading.pass) : reading.pass
    const pass = reading.error === null || led === null ? led : clean(led)
    if (this.finishing) {
      if (pass !== null) this.trail(pass)
      return
    }
    this.#objects?.look()
    if (reading.content) this.contentEvents++
    if (reading.error !== null) this.#providerError = cleanError(reading.error, clean)
    this.exchange.betweenEvents = event.part === 'whole' || event.part === 'tail'
    const terminal = reading.terminal || reading.error !== null
    if (terminal && this.exchange.lane!.endMark) return this.#complete(pass)
    if (this.#held !== null && event.data.length > 0) {
      this.write(this.#held)
      this.#held = null
    }
    if (terminal || this.#held !== null) this.#hold(pass)
    else if (pass !== null) this.write(pass)
  }

  chunk(chunk: Buffer): void {
    this.write(chunk)
  }

  ended(missing: string | null): void {
    this.providerEnded()
    if (missing === null || this.#providerError !== null) return this.#complete(null)
    this.#breakOff(fault('provider_bad_response', `The provider's stream broke off: ${missing}.`))
  }

  failed(reason: Fault): void {
    this.providerEnded()
    this.#breakOff(reason)
  }

  /** An event that is too large to be held passes as it is: its beginning is gone before its end comes. */
  #lead(event: StreamEvent, pass: Buffer | null): Buffer | null {
    if (pass !== event.bytes || event.data.length === 0) return pass
    if (event.part !== 'whole' && event.part !== 'cut') return this.#noteLarge(pass)
    const data = rewriteUrls(this.gateway, this.exchange, this.answer, event.data)
    return data === event.data ? pass : replaceData(event, data)
  }

  #noteLarge(pass: Buffer): Buffer {
    const { routingSignals, match } = this.exchange
    if (match!.endpoint.object !== null && !routingSignals.includes(notRead)) routingSignals.push(notRead)
    return pass
  }

  /** The lane's own error event, never a silent close: a cut stream looks like a finished one to every SDK. */
  #breakOff(reason: Fault): void {
    if (this.finishing) return
    this.#objects?.end()
    const { exchange } = this
    this.#hold(exchange.lane!.streamError(exchange.match!, reason, exchange.id, this.answer.call.reader))
    void this.finish(endOfFault(reason, this.tokens(false), this.answer.gated.head.status), this.#held)
  }

  #hold(bytes: Buffer | null): void {
    if (bytes !== null) this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes])
  }

  #complete(bytes: Buffer | null): void {
    if (this.finishing) return
    this.#objects?.end()
    this.#hold(bytes)
    const error = this.#providerError
    const { status } = this.answer.gated.head
    void this.finish({ status, error, tokens: this.tokens(error === null) }, this.#held)
  }
}

const notRead: Signal = Object.freeze({
  rule: 'answer_not_read',
  verdict: 'note',
  text: 'An event of the stream was too large to be read: URLs in it lead where the provider says.',
})

function cleanError(error: StreamedError, clean: (bytes: Buffer) => Buffer): StreamedError {
  return { ...error, message: clean(Buffer.from(error.message)).toString() }
}
