import type { Fault } from '../core/errors.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import { AnswerFlow } from './answer-flow.ts'
import { endOfFault } from './settle.ts'

/** Usage stands at the end of every format's whole answer, or nearly. */
const tailBytes = 16 * 1024

/** Raw bytes, one chunk behind, so that the last of them waits for the journal. */
export class ByteFlow extends AnswerFlow {
  #held: Buffer | null = null
  #tail: Buffer = Buffer.alloc(0)

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
    const last = chunk.length < tailBytes ? Buffer.concat([this.#tail, chunk]) : chunk
    this.#tail = last.subarray(-tailBytes)
  }

  ended(): void {
    this.providerEnded()
    this.answer.call.reader.tail(this.#tail)
    void this.finish({ status: this.answer.gated.head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  failed(reason: Fault): void {
    void this.breakOff(endOfFault(reason, this.tokens(false), this.answer.gated.head.status))
  }
}
