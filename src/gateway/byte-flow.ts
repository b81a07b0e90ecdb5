import type { Fault } from '../core/errors.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import { AnswerFlow } from './answer-flow.ts'
import { endOfFault } from './settle.ts'
import { Tail } from './tail.ts'

/** Usage stands at the end of every format's whole answer, or nearly. */
const tailBytes = 16 * 1024

/** Raw bytes, one chunk behind, so that the last of them waits for the journal. */
export class ByteFlow extends AnswerFlow {
  readonly #results = this.exchange.results?.canRead(this.answer.gated.head) ? this.exchange.results : null
  #held: Buffer | null = null
  #tail: Tail | null = null

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
    this.#results?.add(chunk)
    this.gateway.chunks.passed(chunk.length)
    const { responseForm } = this.exchange.match!.endpoint
    if (responseForm === 'bytes' || responseForm === 'lines') return
    this.#tail ??= new Tail(tailBytes)
    this.#tail.add(chunk)
  }

  ended(): void {
    this.providerEnded()
    if (!this.finishing) this.#results?.end()
    if (this.#tail !== null) this.answer.call.reader.tail(this.#tail.bytes())
    void this.finish({ status: this.answer.gated.head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  failed(reason: Fault): void {
    void this.breakOff(endOfFault(reason, this.tokens(false), this.answer.gated.head.status))
  }
}
