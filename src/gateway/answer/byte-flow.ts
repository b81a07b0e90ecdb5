import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import type { BatchResults } from '../objects/batch-results.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { findHeader } from '../upstream/headers.ts'
import { AnswerFlow } from './answer-flow.ts'
import { type EncodedAnswer, openEncodedAnswer } from './encoded-answer.ts'
import { LastBytes } from './last-bytes.ts'
import { endOfFault } from './settle.ts'
import { writtenBytes } from './written-tokens.ts'

/** Passes raw bytes one chunk late, so that the last chunk can wait for the journal. */
export class ByteFlow extends AnswerFlow {
  readonly #results: BatchResults | null
  /** null: not compressed, or plain bytes. */
  readonly #encoded: EncodedAnswer | null
  readonly #isText: boolean
  #held: Buffer | null = null
  #tail: LastBytes | null = null

  constructor(answer: Answer, done: () => void) {
    super(answer, done)
    const results = this.call.arrival.objects?.results ?? null
    this.#results = results?.canRead(answer.gated.head) ? results : null
    const { responseForm } = this.call.match.endpoint
    this.#isText = responseForm !== 'bytes' && responseForm !== 'lines'
    const { headers } = answer.gated.head
    const encoding = findHeader(headers, 'content-encoding')?.trim().toLowerCase() ?? ''
    const type = findHeader(headers, 'content-type')?.toLowerCase() ?? ''
    this.#encoded = this.#isText && encoding !== '' ? openEncodedAnswer(answer.leg, encoding, type) : null
  }

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
    this.#results?.add(chunk)
    this.call.gateway.gcPacer.passed(chunk.length)
    this.#encoded?.add(chunk)
    if (this.#encoded !== null || !this.#isText) return
    this.#tail ??= new LastBytes()
    this.#tail.add(chunk)
  }

  ended(): void {
    this.providerEnded()
    if (!this.finishing) this.#results?.end()
    const { leg } = this.answer
    if (this.#tail !== null) leg.reader.tail(this.#tail.bytes())
    if (this.#encoded === null) return this.#complete()
    void this.#encoded.end().then(() => this.#complete())
  }

  #complete(): void {
    const { head } = this.answer.gated
    if (this.#encoded !== null && !this.finishing) {
      this.written = this.#encoded.written
      const { unread } = this.#encoded
      if (unread !== null)
        this.call.trace.note('usage', `The provider compressed its answer, and ${unread}: its usage is not known.`)
    }
    void this.finish({ status: head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  /** For text that was cut off: an estimate of a token for four bytes, from what was sent. */
  protected override tokens(complete: boolean): ReturnType<AnswerFlow['tokens']> {
    const { estimable } = this.answer.leg.reader
    if (!complete && estimable && this.written.events === 0) this.written = writtenBytes(this.call.trace.responseBytes)
    return super.tokens(complete)
  }

  protected override released(): void {
    this.#encoded?.stop('its client disconnected')
  }

  protected endWithFault(reason: Fault): void {
    void this.breakOff(endOfFault(reason, this.tokens(false), this.answer.gated.head.status))
  }
}
