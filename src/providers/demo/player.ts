import type { ResponseSink, Sending } from '../contract.ts'
import type { DemoAnswer } from './answer.ts'
import type { Behaviour } from './behaviour.ts'

/** Plays an answer into a sink with pauses, as a provider's connection would. One timer at a time; none once it is over. */
export class Player implements Sending {
  readonly #answer: DemoAnswer
  readonly #behaviour: Behaviour
  readonly #sink: ResponseSink
  readonly #stopAt: number
  #next = -1
  #paused = false
  #over = false
  #timer: NodeJS.Timeout | null = null

  constructor(answer: DemoAnswer, behaviour: Behaviour, sink: ResponseSink) {
    this.#answer = behaviour.cut ? halve(answer) : answer
    this.#behaviour = behaviour
    this.#sink = sink
    this.#stopAt = this.#answer.chunks.length
    sink.onConnected()
    this.#schedule(behaviour.firstMs)
  }

  abort(): void {
    this.#over = true
    this.#stop()
  }

  pause(): void {
    this.#paused = true
    // The head does not wait for the reader: it is small, and a paused reader may be waiting for it.
    if (this.#next >= 0) this.#stop()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    if (!this.#over && !this.#timer) this.#schedule(0)
  }

  #schedule(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#step(), milliseconds)
  }

  #stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #step(): void {
    this.#timer = null
    const position = this.#next++
    if (position === -1) this.#sink.onHead(this.#answer.status, this.#answer.headers)
    else if (position < this.#stopAt) this.#sink.onData(this.#answer.chunks[position] ?? Buffer.alloc(0))
    else {
      this.#finish()
      return
    }
    // Nothing to pause for between the head and the first chunk, nor before the end.
    const gap = position === -1 || position >= this.#stopAt - 1 ? 0 : this.#behaviour.gapMs
    if (!this.#over && !this.#paused && !this.#timer) this.#schedule(gap)
  }

  #finish(): void {
    this.#over = true
    if (this.#behaviour.cut) {
      this.#sink.onError({ kind: 'reset', message: 'The demo provider broke off in the middle, as demo-cut does.' })
    } else this.#sink.onEnd()
  }
}

/** The first half: of the chunks of a stream, of the bytes of a whole answer. */
function halve(answer: DemoAnswer): DemoAnswer {
  const [only] = answer.chunks
  const whole = answer.chunks.length === 1 && only !== undefined
  const chunks = whole ? [only.subarray(0, only.length >> 1)] : answer.chunks.slice(0, answer.chunks.length >> 1)
  return { ...answer, chunks }
}
