import { asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage } from '../../core/record.ts'
import { BaseReader, ordinary } from '../base-reader.ts'
import type { EventReading, StreamEvent } from '../contract.ts'
import { eventType } from '../event-search.ts'
import { readStreamedError } from './errors.ts'

/**
 * The legacy text completions: each event has a piece of the text, the last one a reason to stop. They report no usage.
 * Source: the types of the SDK's version 0.
 */
export class CompleteReader extends BaseReader {
  protected readonly wanted = ['model', 'id']
  override readonly estimable = true
  #ended = false

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
  }

  protected readEvent(event: StreamEvent): EventReading {
    const type = event.data.length === 0 ? 'ping' : eventType(event)
    if (type !== 'completion' && type !== 'error') return ordinary(event)
    const data = parseObject(event.data)
    if (type === 'error') {
      this.#ended = true
      return { content: false, terminal: true, error: readStreamedError(data), pass: event.bytes }
    }
    this.learn(data ?? {})
    this.#ended = asText(data?.stop_reason) !== null
    return { content: asText(data?.completion) !== null, terminal: this.#ended, error: null, pass: event.bytes }
  }

  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event, true)
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without a stop_reason'
  }

  usage(): TokenUsage | null {
    return null
  }
}
