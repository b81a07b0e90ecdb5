import type { Fault } from '../core/errors.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import { AnswerFlow } from './answer-flow.ts'
import { endOfFault } from './settle.ts'

/** Raw bytes, one chunk behind, so that the last of them waits for the journal. */
export class ByteFlow extends AnswerFlow {
  #held: Buffer | null = null

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
  }

  ended(): void {
    this.providerEnded()
    void this.finish({ status: this.answer.gated.head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  failed(reason: Fault): void {
    void this.breakOff(endOfFault(reason, this.tokens(false), this.answer.gated.head.status))
  }
}
