import type { Fault } from '../core/errors.ts'
import type { StreamEvent } from '../core/stream-event.ts'
import type { EventReading } from '../lanes/contract.ts'
import type { CallConsumer } from './call.ts'
import type { Exchange, ExchangeEnd } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import type { Answer } from './judge.ts'
import { clientClosed, settle, tokensOf } from './settle.ts'

/** What both kinds of flow share: back-pressure, the client's hanging up, and one end. */
export abstract class AnswerFlow implements CallConsumer {
  protected readonly gateway: Gateway
  protected readonly exchange: Exchange
  protected readonly answer: Answer
  protected contentEvents = 0
  readonly #done: () => void
  #finishing = false
  /** The last bytes that the record waits for are out; what the provider still sends follows them. */
  #finished = false
  #providerEnded = false
  #trailing: Buffer[] = []
  #paused = false

  constructor(gateway: Gateway, exchange: Exchange, answer: Answer, done: () => void) {
    this.gateway = gateway
    this.exchange = exchange
    this.answer = answer
    this.#done = done
  }

  /** The response's head has been written. */
  begin(): void {
    this.exchange.whenGone(() => this.#stop())
    if (this.exchange.stopped) this.#stop()
    else this.answer.call.attach(this)
  }

  abstract event(event: StreamEvent, reading: EventReading): void
  abstract chunk(chunk: Buffer): void
  abstract ended(missing: string | null): void
  abstract failed(reason: Fault): void

  protected get finishing(): boolean {
    return this.#finishing
  }

  /** With the next `flush`. */
  protected write(bytes: Buffer): void {
    const { exchange } = this
    exchange.responseBytes += bytes.length
    exchange.lastWriteAt = performance.now()
    exchange.capture?.answer(bytes)
    exchange.output!.add(bytes)
  }

  flush(): void {
    const { exchange } = this
    if (exchange.output!.flush() || this.#paused) return
    this.#paused = true
    this.answer.call.pause()
    exchange.response.once('drain', () => {
      this.#paused = false
      this.answer.call.resume()
    })
  }

  /** Ends as for any client that has gone. */
  stalled(): void {
    this.exchange.response.destroy()
  }

  /** Bytes that a provider sends after its terminal event: no promise hangs on them, but they pass too. */
  protected trail(bytes: Buffer): void {
    if (this.#finished) this.write(bytes)
    else this.#trailing.push(bytes)
  }

  /** Nothing more comes from the provider. */
  protected providerEnded(): void {
    this.#providerEnded = true
    if (this.#finished) this.exchange.output!.end()
  }

  /** Settles, then gives the client the bytes that had to wait for it. */
  protected async finish(end: ExchangeEnd, last: Buffer | null): Promise<void> {
    if (!(await this.#settle(end, last))) return
    const output = this.exchange.output!
    for (const bytes of last === null ? this.#trailing : [last, ...this.#trailing]) output.add(bytes)
    this.#finished = true
    if (this.#providerEnded) output.end()
    else output.flush()
    this.#done()
  }

  /** Settles, then cuts the connection: all that is left for bytes whose shape has no place for an error. */
  protected async breakOff(end: ExchangeEnd): Promise<void> {
    if (!(await this.#settle(end, null))) return
    this.exchange.response.destroy()
    this.#done()
  }

  protected tokens(complete: boolean) {
    return tokensOf(this.exchange, this.answer.call.reader, this.contentEvents, complete)
  }

  /** False when there is nobody left to write to, or another end was first. */
  async #settle(end: ExchangeEnd, last: Buffer | null): Promise<boolean> {
    if (this.#finishing) return false
    this.#finishing = true
    const { exchange } = this
    exchange.stopHeartbeat()
    exchange.responseBytes += last?.length ?? 0
    if (last !== null) exchange.capture?.answer(last)
    if (!exchange.gone) exchange.mark('last_byte')
    this.answer.attempt.ended_ms = exchange.elapsed()
    await settle(this.gateway, exchange, end)
    if (exchange.gone) this.#done()
    return !exchange.gone
  }

  #stop(): void {
    this.answer.call.abort()
    if (!this.#finishing) this.answer.attempt.outcome = 'aborted'
    const { gone, ending } = this.exchange
    if (!gone && ending !== null) this.failed(ending)
    else void this.#settle({ status: 499, error: clientClosed, tokens: this.tokens(false) }, null)
  }
}
