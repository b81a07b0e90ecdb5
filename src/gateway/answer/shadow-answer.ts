import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import type { Fault } from '../../core/errors.ts'
import type { EventReading, StreamedError } from '../../lanes/contract.ts'
import type { RequestEnd } from '../request/trace.ts'
import type { AnswerConsumer } from '../upstream/answer-consumer.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { extendHold } from '../upstream/hold-budgets.ts'
import { hideAccount, noteAnswered } from '../upstream/leg.ts'
import { chargeBeside, usedByPieces, usedByWhole } from './charge.ts'
import { LastBytes } from './last-bytes.ts'
import { endOfFault, settle } from './settle.ts'
import { WrittenTokens } from './written-tokens.ts'

/** The answer to a shadow request. No client gets it: it is read to its end for its record. */
export class ShadowAnswer implements AnswerConsumer {
  readonly #answer: Answer
  readonly #done = Promise.withResolvers<void>()
  readonly #tail = new LastBytes()
  readonly #written: WrittenTokens
  #error: StreamedError | null = null
  #ending = false
  #keeps = true

  constructor(answer: Answer) {
    this.#answer = answer
    this.#written = new WrittenTokens(answer.leg.call.openHold !== null)
  }

  /** Resolves when its record is settled. */
  async read(): Promise<void> {
    const { gated, error, leg, upstream } = this.#answer
    const { call } = leg
    call.trace.firstByteMs = this.#answer.attempt.first_byte_ms
    if (call.content?.readsAnswer === true) this.#keepNone()
    if (this.#keeps) call.arrival.capture?.answerHead(gated.head.headers)
    const { status } = gated.head
    if (gated.kind === 'error') {
      this.#pass(error?.body ?? gated.body)
      const message = `The provider answered ${status}.`
      await this.#settle({ status, error: { code: 'provider_error', origin: 'provider', message }, tokens: null })
    } else if (gated.kind === 'whole') {
      this.#pass(gated.body)
      const tokens = usedByWhole(leg, gated.body)
      await this.#settle({ status, error: null, tokens, detail: leg.reader.usageDetail() })
    } else {
      call.trace.mark('content')
      call.abort.onAbort(() => this.#stop())
      if (call.abort.aborted) this.#stop()
      else upstream.attach(this)
    }
    return this.#done.promise
  }

  event(event: StreamEvent, reading: EventReading): void {
    this.#pass(event.bytes)
    if (reading.content) this.#written.add(event)
    if (reading.error !== null) this.#error = reading.error
    const { call, reader } = this.#answer.leg
    if (call.openHold === null) return
    const outspent = extendHold(call, this.#written.tokens, reader.usage()?.output)
    if (outspent !== null) this.#breakOff(outspent)
  }

  chunk(chunk: Buffer): void {
    this.#pass(chunk)
    this.#tail.add(chunk)
  }

  flush(): void {}

  ended(missing: string | null): void {
    const { leg, gated } = this.#answer
    const { status } = gated.head
    if (gated.kind === 'flow') leg.reader.tail(this.#tail.bytes())
    const broken = missing === null ? null : `The provider's stream broke off: ${missing}.`
    const error = this.#error === null ? brokenOff(broken) : this.#reported(this.#error)
    void this.#settle({ status, error, tokens: this.#tokens(error === null), detail: leg.reader.usageDetail() })
  }

  failed(fault: Fault): void {
    this.#breakOff(fault)
  }

  stalled(): void {
    this.#stop()
  }

  /** Content rules apply to what goes to clients, and this does not: anything that they might redact or block is not kept. */
  #keepNone(): void {
    const { arrival, trace } = this.#answer.leg.call
    if (arrival.capture === null) return
    this.#keeps = false
    const text = "The answer was not kept: content rules do not read a shadow's answer."
    trace.policySignals.push({ rule: 'capture', verdict: 'note', text })
  }

  /** The bytes are only captured, if a policy asks for that. */
  #pass(bytes: Buffer): void {
    const { trace, arrival } = this.#answer.leg.call
    trace.responseBytes += bytes.length
    if (this.#keeps) arrival.capture?.answer(bytes)
  }

  #reported({ code, origin, message }: StreamedError): RequestEnd['error'] {
    return { code, origin, message: hideAccount(this.#answer.leg, Buffer.from(message)).toString() }
  }

  #stop(): void {
    const { reason } = this.#answer.leg.call.abort
    if (reason !== null) this.#breakOff(reason)
  }

  #breakOff(reason: Fault): void {
    this.#answer.upstream.abort()
    void this.#settle(endOfFault(reason, this.#tokens(false), this.#answer.gated.head.status))
  }

  #tokens(complete: boolean): RequestEnd['tokens'] {
    return usedByPieces(this.#answer.leg, this.#written, complete)
  }

  async #settle(end: RequestEnd): Promise<void> {
    if (this.#ending) return
    this.#ending = true
    const { attempt, leg } = this.#answer
    const { trace, arrival } = leg.call
    trace.mark('last_byte')
    attempt.ended_ms = trace.elapsed()
    if (end.error !== null && attempt.outcome === 'answered') attempt.outcome = end.error.code
    if (trace.isPricedByAnswer) noteAnswered(leg)
    const earlier = chargeBeside(leg)
    try {
      const free = end.error === null && leg.reader.isFree?.() === true
      await settle(arrival, { ...end, free, ...(earlier !== undefined && { earlier }) })
    } finally {
      this.#done.resolve()
    }
  }
}

function brokenOff(message: string | null): RequestEnd['error'] {
  return message === null ? null : { code: 'provider_bad_response', origin: 'provider', message }
}
