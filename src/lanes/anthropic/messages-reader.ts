import type { TokenUsage } from '../../core/record.ts'
import { BaseReader, ordinary } from '../base-reader.ts'
import type { EventReading, StreamEvent } from '../contract.ts'
import { eventType } from '../event-type.ts'
import { asObject, asText, type JsonObject, parseObject } from '../json-value.ts'
import { readStreamedError } from './errors.ts'
import { MessageUsage } from './usage.ts'

/** Messages, whole and streamed. Only the first and the last events are parsed. Source: wire/streaming.md, section 3. */
export class MessagesReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage']
  readonly #usage = new MessageUsage()
  #ended = false

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
    this.#usage.take(answer.usage)
  }

  protected readEvent(event: StreamEvent): EventReading {
    if (event.data.length === 0) return ordinary(event)
    switch (eventType(event)) {
      case 'content_block_start':
      case 'content_block_delta':
        return ordinary(event, true)
      case 'message_start':
        this.learn(asObject(parseObject(event.data)?.message) ?? {})
        return ordinary(event)
      case 'message_delta':
        this.#usage.take(parseObject(event.data)?.usage)
        return ordinary(event)
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

  /** Neither usage nor the end ever stands in a large event. */
  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event, true)
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without message_stop'
  }

  usage(): TokenUsage | null {
    return this.#usage.read()
  }
}
