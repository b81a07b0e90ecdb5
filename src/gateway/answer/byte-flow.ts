import type { Fault } from '../../core/errors.ts'
import type { StreamEvent } from '../../core/stream-event.ts'
import type { BatchResults } from '../objects/batch-results.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { AnswerFlow } from './answer-flow.ts'
import { LastBytes } from './last-bytes.ts'
import { endOfFault } from './settle.ts'

/** Usage stands at the end of every format's whole answer, or nearly. */
const tailBytes = 16 * 1024

/** Raw bytes, one chunk behind, so that the last of them waits for the journal. */
export class ByteFlow extends AnswerFlow {
  readonly #results: BatchResults | null
  #held: Buffer | null = null
  #tail: LastBytes | null = null

  constructor(answer: Answer, done: () => void) {
    super(answer, done)
    const results = this.call.arrival.objects?.results ?? null
    this.#results = results?.canRead(answer.gated.head) ? results : null
  }

  event(event: StreamEvent): void {
    this.chunk(event.bytes)
  }

  chunk(chunk: Buffer): void {
    if (this.#held !== null) this.write(this.#held)
    this.#held = chunk
    this.#results?.add(chunk)
    this.call.gateway.chunks.passed(chunk.length)
    const { responseForm } = this.call.match.endpoint
    if (responseForm === 'bytes' || responseForm === 'lines') return
    this.#tail ??= new LastBytes(tailBytes)
    this.#tail.add(chunk)
  }

  ended(): void {
    this.providerEnded()
    if (!this.finishing) this.#results?.end()
    const { leg, gated } = this.answer
    if (this.#tail !== null) leg.reader.tail(this.#tail.bytes())
    void this.finish({ status: gated.head.status, error: null, tokens: this.tokens(true) }, this.#held)
  }

  failed(reason: Fault): void {
    void this.breakOff(endOfFault(reason, this.tokens(false), this.answer.gated.head.status))
  }
}
