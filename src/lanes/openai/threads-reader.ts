import { asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary } from '../base-reader.ts'
import type { AnswerFacts, EventReading, Framing, StreamEvent } from '../contract.ts'
import { readStreamedError } from './errors.ts'
import { readUsage } from './usage.ts'

/** Runs of threads, streamed: named events `thread.…`, then `done`. Source: wire/streaming.md, section 1. */
export class ThreadsReader extends BaseReader {
  protected readonly wanted = ['model', 'thread_id', 'usage']
  #tokens: TokenUsage | null = null
  #run: string | null = null
  #waits = false
  #spoke = false
  #done = false
  readonly #creates: boolean

  /** `makes`: the call created its thread. */
  constructor(framing: Framing | null, creates: boolean) {
    super(framing)
    this.#creates = creates
  }

  /** Reads a run; later calls name its thread. */
  protected learn(run: JsonObject): void {
    this.model ??= asText(run.model)
    this.responseId ??= asText(run.thread_id)
    this.#tokens = readUsage(run.usage) ?? this.#tokens
    this.#run ??= asText(run.id)
    this.#waits = run.status === 'requires_action'
    const thread = asText(run.thread_id)
    if (this.#creates && thread !== null) this.objects = [{ type: 'thread', id: thread }]
  }

  protected readEvent(event: StreamEvent): EventReading {
    if (event.name === 'done') {
      this.#done = true
      return { content: false, terminal: true, error: null, pass: event.bytes }
    }
    if (event.name === 'error') return this.#readError(event)
    if (event.name.startsWith('thread.run.') && !event.name.startsWith('thread.run.step.'))
      this.learn(parseObject(event.data) ?? {})
    const content = event.name.endsWith('.delta')
    this.#spoke ||= content
    return ordinary(event, content)
  }

  #readError(event: StreamEvent): EventReading {
    this.#done = true
    const body = parseObject(event.data) ?? {}
    const error = readStreamedError(errorObject(body.error) ?? asObject(body) ?? {})
    return { content: false, terminal: true, error, pass: event.bytes }
  }

  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event, true)
  }

  end(): string | null {
    return this.#done ? null : 'the stream ended without its done event'
  }

  usage(): TokenUsage | null {
    return this.#tokens
  }

  override seen(): AnswerFacts {
    // A run that waits for its tools has not reported its usage yet; it is estimated only if the stream was cut.
    const counts = this.#tokens !== null || (this.#spoke && !this.#done)
    const seen = super.seen()
    if (this.#run === null) return seen
    if (counts) return { ...seen, counted: this.#run }
    return this.#waits && this.#done ? { ...seen, unfinished: this.#run } : seen
  }
}
