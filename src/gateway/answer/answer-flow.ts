import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { EventReading } from '../../lanes/contract.ts'
import type { TransportFault } from '../../providers/contract.ts'
import type { ClientReply } from '../request/arrival.ts'
import type { Call } from '../request/call.ts'
import type { RequestEnd } from '../request/trace.ts'
import type { AnswerConsumer } from '../upstream/answer-consumer.ts'
import { applyBreak } from '../upstream/apply-evaluation.ts'
import { type Answer, healthOfFault } from '../upstream/evaluate.ts'
import { noteAnswered } from '../upstream/leg.ts'
import { chargeBeside, usedByPieces } from './charge.ts'
import { clientClosed, settle } from './settle.ts'
import { type WrittenAnswer, writtenBytes } from './written-tokens.ts'

const nothingWritten = writtenBytes(0)

/** What both kinds of flow share: back-pressure, the client's disconnect, and a single end. */
export abstract class AnswerFlow implements AnswerConsumer {
  protected readonly call: Call
  protected answer: Answer
  readonly #reply: ClientReply
  protected written: WrittenAnswer
  readonly #done: () => void
  #finishing = false
  /** The last bytes that had to wait for the record are sent; whatever the provider still sends follows them. */
  #finished = false
  #providerEnded = false
  #trailing: Buffer[] = []
  #paused = false
  #providerPaused = false

  constructor(answer: Answer, done: () => void) {
    this.call = answer.leg.call
    this.answer = answer
    this.#reply = this.call.arrival.reply
    this.#done = done
    this.written = nothingWritten
  }

  /** The response's head has been written. */
  begin(): void {
    const { abort } = this.call
    abort.onAbort(() => this.#stop())
    if (abort.aborted) this.#stop()
    else this.answer.upstream.attach(this)
  }

  /** Continues with another upstream call of the same attempt, which has the rest of the answer. */
  protected attachRest(): void {
    const { upstream } = this.answer
    upstream.attach(this)
    if (this.#paused) upstream.pause()
  }

  abstract event(event: StreamEvent, reading: EventReading): void
  abstract chunk(chunk: Buffer): void
  abstract ended(missing: string | null): void
  /** Ends the answer with an error message, or by closing the connection if the answer's form has no place for one. */
  protected abstract endWithFault(reason: Fault): void

  failed(reason: Fault, transport: TransportFault['kind'] | null): void {
    if (!this.#finishing) applyBreak(this.answer.leg, healthOfFault(this.answer.leg, reason, transport))
    this.endWithFault(reason)
  }

  /** Called when nothing more of the answer is read. */
  protected released(): void {}

  protected get finishing(): boolean {
    return this.#finishing
  }

  /** The bytes are sent with the next `flush`. */
  protected write(bytes: Buffer): void {
    const { arrival, trace } = this.call
    trace.responseBytes += bytes.length
    arrival.capture?.answer(bytes)
    this.#reply.lastWriteAt = performance.now()
    this.#reply.body.add(bytes)
  }

  flush(): void {
    if (this.#reply.body.flush() || this.#paused) return
    this.#paused = true
    this.answer.upstream.pause()
    this.call.arrival.response.once('drain', () => {
      this.#paused = false
      if (!this.#providerPaused) this.answer.upstream.resume()
    })
  }

  /** Stops reading from the provider, or resumes at the client's speed. */
  protected setProviderPaused(paused: boolean): void {
    this.#providerPaused = paused
    if (paused) this.answer.upstream.pause()
    else if (!this.#paused) this.answer.upstream.resume()
  }

  /** Ends like any request whose client has disconnected. */
  stalled(): void {
    this.call.arrival.response.destroy()
  }

  /** Bytes that a provider sends after its terminal event. Nothing depends on them, but they are passed on too. */
  protected writeTrailing(bytes: Buffer): void {
    if (this.#finished) this.write(bytes)
    else this.#trailing.push(bytes)
  }

  /** The provider sends nothing more. */
  protected providerEnded(): void {
    this.#providerEnded = true
    if (this.#finished) this.#reply.body.end()
  }

  /** Settles the request, then sends the bytes that had to wait for that. */
  protected async finish(end: RequestEnd, last: Buffer | null): Promise<void> {
    if (!(await this.#settle(end, last))) return
    const output = this.#reply.body
    for (const bytes of last === null ? this.#trailing : [last, ...this.#trailing]) output.add(bytes)
    this.#finished = true
    if (this.#providerEnded) output.end()
    else output.flush()
    this.#done()
  }

  /** Settles the request, then closes the connection: the only way to end an answer whose form has no place for an error. */
  protected async breakOff(end: RequestEnd): Promise<void> {
    if (!(await this.#settle(end, null))) return
    this.call.arrival.response.destroy()
    this.#done()
  }

  protected tokens(complete: boolean): TokenUsage | null {
    return usedByPieces(this.answer.leg, this.written, complete)
  }

  /** False: the client has disconnected, or another end came first. */
  async #settle(end: RequestEnd, last: Buffer | null): Promise<boolean> {
    if (this.#finishing) return false
    this.#finishing = true
    this.released()
    const { arrival, trace, abort } = this.call
    this.#reply.keepAlive?.stop()
    trace.responseBytes += last?.length ?? 0
    if (last !== null) arrival.capture?.answer(last)
    if (!abort.disconnected) trace.mark('last_byte')
    const { attempt, leg } = this.answer
    attempt.ended_ms = trace.elapsed()
    // An answer that broke off after its content had begun does not count as a success of the provider.
    if (end.error !== null && attempt.outcome === 'answered') attempt.outcome = end.error.code
    // An estimate has no details, unless only the prompt was estimated.
    const isReported = end.error === null && (leg.reader.usage()?.output ?? 0) > 0
    const detail = isReported || end.tokens?.source === 'reported' ? leg.reader.usageDetail() : null
    if (trace.isPricedByAnswer) noteAnswered(leg)
    const earlier = chargeBeside(leg)
    const free = end.error === null && leg.reader.isFree?.() === true
    await settle(arrival, { ...end, detail, free, ...(earlier !== undefined && { earlier }) })
    if (abort.disconnected) this.#done()
    return !abort.disconnected
  }

  #stop(): void {
    const { disconnected, reason } = this.call.abort
    this.answer.upstream.abort()
    if (!this.#finishing) this.answer.attempt.outcome = 'aborted'
    if (!disconnected && reason !== null) this.endWithFault(reason)
    else void this.#settle({ status: 499, error: clientClosed, tokens: this.tokens(false) }, null)
  }
}
