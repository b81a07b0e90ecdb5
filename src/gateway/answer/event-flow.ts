import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { TokenUsage } from '../../core/record.ts'
import type { EventReading, StreamedError } from '../../lanes/contract.ts'
import type { TransportFault } from '../../providers/contract.ts'
import { StreamedObjects } from '../objects/created-objects.ts'
import type { RequestEnd } from '../request/trace.ts'
import type { AnswerConsumer } from '../upstream/answer-consumer.ts'
import { applyBreak } from '../upstream/apply-evaluation.ts'
import { type Answer, healthOfEvent, restFailed } from '../upstream/evaluate.ts'
import { sendForRest } from '../upstream/finish-attempt.ts'
import { extendHold } from '../upstream/hold-budgets.ts'
import { hideAccount, type Leg, noteHead } from '../upstream/leg.ts'
import { AnswerFlow } from './answer-flow.ts'
import { endOfFault } from './settle.ts'
import { type AnswerStage, endStages, isRefused, type Passed, passEvent, type StagePass } from './stage.ts'
import { WrittenTokens } from './written-tokens.ts'

const mostBehindEnd = 64 * 1024

/** Passes a stream event by event. The terminal event, and an error of the provider, wait for the journal. */
export class EventFlow extends AnswerFlow {
  readonly #stages: readonly AnswerStage[]
  /** null: the provider stores nothing of this stream. */
  readonly #objects: StreamedObjects | null
  /** On a lane without an end mark: a terminal event that may not be the last one, and what followed it. */
  #held: Buffer | null = null
  /** Bytes without data that came after the held event. */
  #behindEnd = 0
  #providerError: StreamedError | null = null
  /** What this part of the answer has written. */
  #counted: WrittenTokens
  /** The provider refused to send the rest of the answer, so nothing is charged for that part. */
  #refused = false
  /** A stage is still working on the last event; later ones wait. */
  #busy = false
  readonly #waiting: (() => void)[] = []

  constructor(answer: Answer, stages: readonly AnswerStage[], done: () => void) {
    super(answer, done)
    this.#stages = stages
    this.#counted = new WrittenTokens(this.call.openHold !== null)
    this.written = this.#counted
    this.#objects = this.call.createsObjects && answer.leg.translation === null ? new StreamedObjects(answer.leg) : null
  }

  event(event: StreamEvent, reading: EventReading): void {
    if (this.#busy) return void this.#waiting.push(() => this.event(event, reading))
    this.#whenKnown(passEvent(this.#stages, event, reading), (passed) => this.#take(event, reading, passed))
  }

  #take(event: StreamEvent, reading: EventReading, passed: Passed): void {
    if (isRefused(passed)) return this.#withhold(passed)
    const pass = reading.error === null || passed === null ? passed : hideAccount(this.answer.leg, passed)
    if (this.finishing) {
      if (pass !== null) this.writeTrailing(pass)
      return
    }
    this.#objects?.beforeEvent()
    if (reading.content) this.#counted.add(event)
    if (this.call.openHold !== null && this.#outspent()) return
    if (reading.error !== null) this.#providerError = this.#cleaned(reading.error)
    const { leg } = this.answer
    this.call.arrival.reply.betweenEvents = event.part === 'whole' || event.part === 'tail' || leg.translation !== null
    const terminal = reading.terminal || reading.error !== null
    const rest = reading.terminal && reading.error === null ? (leg.translation?.afterStream() ?? null) : null
    if (rest !== null) return void this.#goOn(rest, pass)
    if (terminal && leg.lane.endMark) return this.#complete(pass)
    if (this.#held !== null && event.data.length > 0) {
      this.write(this.#held)
      this.#held = null
    }
    if (event.data.length === 0 && this.#held !== null) this.#behindEnd += event.bytes.length
    // No real provider sends this many bytes without data after the end.
    if (this.#behindEnd > mostBehindEnd) return this.#complete(pass)
    if (terminal || this.#held !== null) this.#hold(pass)
    else if (pass !== null) this.write(pass)
  }

  chunk(chunk: Buffer): void {
    this.write(chunk)
  }

  ended(missing: string | null): void {
    if (this.#busy) return void this.#waiting.push(() => this.ended(missing))
    this.providerEnded()
    if (missing === null || this.#providerError !== null) return this.#complete(null)
    this.failed(fault('provider_bad_response', `The provider's stream broke off: ${missing}.`), null)
  }

  override failed(reason: Fault, transport: TransportFault['kind'] | null): void {
    if (this.#busy) return void this.#waiting.push(() => this.failed(reason, transport))
    if (this.#providerError === null) super.failed(reason, transport)
    else this.endWithFault(reason)
  }

  /** After an error of the provider, a break changes nothing: the client gets one error, the one on the record. */
  protected endWithFault(reason: Fault): void {
    this.providerEnded()
    if (this.#providerError === null) this.#breakOff(reason)
    else this.#complete(null)
  }

  protected override tokens(complete: boolean): TokenUsage | null {
    return this.#refused ? null : super.tokens(complete)
  }

  /** The provider has paused: ignores what it still sends of this part, and asks for the rest. */
  async #goOn(asking: Promise<Leg | null>, pass: Buffer | null): Promise<void> {
    if (pass !== null) this.write(pass)
    this.#waiting.length = 0
    this.answer.upstream.attach(nobody)
    const leg = await asking
    if (this.finishing) return
    if (leg === null) return this.#endPaused()
    this.#counted = new WrittenTokens(this.call.openHold !== null)
    this.written = this.#counted
    const { upstream, gated } = await sendForRest(leg, (begun) => {
      this.answer = { ...this.answer, leg, upstream: begun }
    })
    if (this.finishing) return
    noteHead(leg, upstream)
    if (gated.kind === 'stream') return this.attachRest()
    this.#refused = gated.kind !== 'failed' || upstream.times.connected === null
    upstream.abort()
    const { reason, health } = restFailed(leg, gated)
    applyBreak(leg, health)
    const { content } = this.call
    if (content?.readsAnswer !== true) return this.endWithFault(reason)
    const { readQuoted } = await import('../content/read-error.ts')
    this.endWithFault(await readQuoted(this.call, content, reason))
  }

  #endPaused(): void {
    this.#complete(null)
    this.providerEnded()
  }

  /** Calls `act` with what passes. Nothing more is read while a stage takes long. */
  #whenKnown(passing: StagePass, act: (passed: Passed) => void): void {
    if (!(passing instanceof Promise)) return act(passing)
    this.#busy = true
    this.setProviderPaused(true)
    void passing.then((passed) => {
      this.#busy = false
      // The request has ended in the meantime.
      if (this.call.abort.aborted) return
      act(passed)
      while (!this.#busy) {
        const next = this.#waiting.shift()
        if (next === undefined) break
        next()
      }
      this.flush()
      if (!this.#busy) this.setProviderPaused(false)
    })
  }

  /** Ends a stream without an output limit when its budgets have no room for more. It is charged for what was sent. */
  #outspent(): boolean {
    const reason = extendHold(this.call, this.written.tokens, this.answer.leg.reader.usage()?.output)
    if (reason === null) return false
    this.#withhold(reason)
    return true
  }

  /** Ends the stream: no more of it may be sent. */
  #withhold(reason: Fault): void {
    this.answer.upstream.abort()
    this.endWithFault(reason)
  }

  #cleaned(error: StreamedError): StreamedError {
    return { ...error, message: hideAccount(this.answer.leg, Buffer.from(error.message)).toString() }
  }

  /** Sends the lane's own error event, never a silent close: a cut stream looks like a finished one to every SDK. */
  #breakOff(reason: Fault): void {
    if (this.finishing) return
    this.#objects?.end()
    const { lane, match, id } = this.call
    const { leg, gated } = this.answer
    this.#hold(this.#stages[0]?.broken?.(reason) ?? lane.streamError(match, reason, id, leg.reader))
    void this.finish(endOfFault(reason, this.tokens(false), gated.head.status), this.#held)
  }

  #hold(bytes: Buffer | null): void {
    if (bytes !== null) this.#held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes])
  }

  #complete(bytes: Buffer | null): void {
    if (this.finishing) return
    this.#whenKnown(endStages(this.#stages), (left) => this.#conclude(bytes, left))
  }

  #conclude(bytes: Buffer | null, left: Passed): void {
    if (this.finishing) return
    // After an error of the provider the stages' last bytes are just dropped: `#withhold` would lead back here.
    if (isRefused(left) && this.#providerError === null) return this.#withhold(left)
    this.#objects?.end()
    this.#hold(bytes)
    this.#hold(isRefused(left) ? null : left)
    const error = this.#providerError === null ? null : recordedError(this.#providerError)
    if (this.#providerError !== null) applyBreak(this.answer.leg, healthOfEvent(this.#providerError.status))
    const { status } = this.answer.gated.head
    void this.finish({ status, error, tokens: this.tokens(error === null) }, this.#held)
  }
}

/** Discards what follows the end of a part, so that the connection is free for the next call. */
const nobody: AnswerConsumer = {
  event() {},
  chunk() {},
  flush() {},
  ended() {},
  failed() {},
  stalled() {},
}

function recordedError({ code, origin, message }: StreamedError): RequestEnd['error'] {
  return { code, origin, message }
}
