import { asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { BaseReader, ordinary } from '../base-reader.ts'
import type { BodyReading, EventReading, StreamEvent, TurnUsage } from '../contract.ts'
import { eventType } from '../event-search.ts'
import { readContainer, readToolFiles } from './created-objects.ts'
import { readStreamedError } from './errors.ts'
import { MessageUsage } from './usage.ts'

/** No real answer has more. */
const mostObjects = 10_000

const fileMark = Buffer.from('"file_id"')
const fallbackMark = Buffer.from('"fallback"')
/** A whole answer that names files is parsed up to this size. */
const parsedBytes = 1024 * 1024

/** Messages, whole and streamed. Only the first and the last events are parsed. Source: wire/streaming.md, section 3. */
export class MessagesReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage', 'container', 'stop_reason']
  override readonly estimable = true
  readonly #usage = new MessageUsage()
  #ended = false
  #stop: unknown = null

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
    this.#usage.take(answer.usage)
    this.#stop = answer.stop_reason ?? this.#stop
    this.#note(readContainer(answer))
  }

  #begin(message: JsonObject): void {
    this.learn(message)
    this.#usage.forgetOutput()
  }

  override body(bytes: Buffer): BodyReading {
    const reading = super.body(bytes)
    if (reading.wrong === null && bytes.length <= parsedBytes && bytes.includes(fileMark))
      this.#note(readToolFiles(parseObject(bytes)?.content))
    return reading
  }

  #note(names: ObjectName[]): void {
    if (names.length > 0 && this.objects.length < mostObjects) this.objects = [...this.objects, ...names]
  }

  #readDelta(event: StreamEvent): EventReading {
    const data = parseObject(event.data)
    this.#usage.take(data?.usage)
    this.model = this.#usage.answeredBy() ?? this.model
    const delta = asObject(data?.delta)
    this.#stop = delta?.stop_reason ?? this.#stop
    this.#note(readContainer(delta))
    return ordinary(event)
  }

  /** From here on another model answers: the one that was asked has declined. */
  #readFallback(event: StreamEvent): void {
    const block = asObject(parseObject(event.data)?.content_block)
    if (block?.type === 'fallback') this.model = asText(asObject(block.to)?.model) ?? this.model
  }

  protected readEvent(event: StreamEvent): EventReading {
    // Nothing after the end counts, whether it arrived with it or later.
    if (event.data.length === 0 || this.#ended) return ordinary(event)
    switch (eventType(event)) {
      case 'content_block_start':
        if (event.data.includes(fileMark)) this.#note(readToolFiles([parseObject(event.data)?.content_block]))
        if (event.data.includes(fallbackMark)) this.#readFallback(event)
        return ordinary(event, true)
      case 'content_block_delta':
        return ordinary(event, true)
      case 'message_start':
        this.#begin(asObject(parseObject(event.data)?.message) ?? {})
        return ordinary(event)
      case 'message_delta':
        return this.#readDelta(event)
      case 'message_stop':
        this.#ended = parseObject(event.data) !== null
        return { content: false, terminal: this.#ended, error: null, pass: event.bytes }
      case 'error':
        this.#ended = true
        return { content: false, terminal: true, error: readStreamedError(parseObject(event.data)), pass: event.bytes }
      default:
        return ordinary(event)
    }
  }

  /** Large events never contain usage or the end. */
  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event, true)
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without message_stop'
  }

  usage(): TokenUsage | null {
    return this.#usage.read()
  }

  override usageDetail(): UsageDetail | null {
    return this.#usage.detail()
  }

  /** It was declined before the model wrote anything. Source: the vendor's guide on fallback and billing. */
  isFree(): boolean {
    return this.#stop === 'refusal' && this.usage()?.output === 0
  }

  beside(): readonly TurnUsage[] {
    return this.#usage.beside()
  }
}
