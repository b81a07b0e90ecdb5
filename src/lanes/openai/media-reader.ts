import { asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary } from '../base-reader.ts'
import type { EventReading, StreamEvent } from '../contract.ts'
import { eventType, readLastMember } from '../event-search.ts'
import { usageDetail } from '../usage.ts'
import { readStreamedError } from './errors.ts'
import { readUsage, readUsageDetail } from './usage.ts'

const terminalTypes = new Set([
  'image_generation.completed',
  'image_edit.completed',
  'speech.audio.done',
  'transcript.text.done',
])

/** Streams of images, speech and transcriptions. Source: wire/streaming.md, section 1. */
export class MediaReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage', 'duration']
  #tokens: TokenUsage | null = null
  #usage: unknown = null
  /** Whole transcripts may say how long the audio was. */
  #seconds: unknown = null
  #spoken = false
  #ended = false
  /** The type of an event whose beginning has been sent. */
  #oversized = ''

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.#tokens = readUsage(answer.usage) ?? this.#tokens
    this.#usage = answer.usage ?? this.#usage
    this.#seconds = answer.duration ?? this.#seconds
  }

  protected readEvent(event: StreamEvent): EventReading {
    if (event.data.length === 0) return ordinary(event)
    const type = eventType(event)
    if (terminalTypes.has(type)) {
      this.#spoken = type === 'speech.audio.done'
      this.learn({ usage: readLastMember(event.data, '"usage"') })
      return this.#end(event)
    }
    const isError = type === 'error' || (type === '' && event.data.includes('"error"'))
    const body = isError ? parseObject(event.data) : null
    // Some vendors end these streams with the end mark of chat (`[DONE]`).
    if (body === null) return ordinary(event, type !== '')
    this.#ended = true
    const error = readStreamedError(errorObject(body.error) ?? body)
    return { content: false, terminal: true, error, pass: event.bytes }
  }

  #end(event: StreamEvent): EventReading {
    this.#ended = true
    return { content: true, terminal: true, error: null, pass: event.bytes }
  }

  protected override readHead(event: StreamEvent): void {
    this.#oversized = eventType(event)
  }

  /** An image is often larger than what is held. */
  protected readTail(event: StreamEvent): EventReading {
    if (!terminalTypes.has(this.#oversized)) return ordinary(event, true)
    this.learn({ usage: readLastMember(event.data, '"usage"') })
    return this.#end(event)
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without its last event'
  }

  usage(): TokenUsage | null {
    return this.#tokens
  }

  override usageDetail(): UsageDetail | null {
    if (this.#spoken && this.#tokens !== null) return usageDetail({ audio_output: this.#tokens.output })
    const detail = readUsageDetail(this.#usage, null)
    return detail ?? (this.#tokens === null ? usageDetail({ seconds: this.#seconds }) : null)
  }
}
