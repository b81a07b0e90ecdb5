import { asText, type JsonObject } from '../core/json/json-value.ts'
import type { TokenUsage, UsageDetail } from '../core/record.ts'
import { BaseReader, ordinary } from './base-reader.ts'
import type { EventReading, StreamEvent } from './contract.ts'

/** The members of a whole answer that hold its model, id and usage. */
export interface AnswerShape {
  model: string
  id: string
  usage: string
  readUsage(value: unknown): TokenUsage | null
  readDetail?(usage: unknown): UsageDetail | null
}

/** For endpoints that never stream. Events are forwarded unread. */
export class WholeReader extends BaseReader {
  readonly #shape: AnswerShape
  protected readonly wanted: readonly string[]
  #tokens: TokenUsage | null = null
  #usage: unknown = null

  constructor(shape: AnswerShape) {
    super(null)
    this.#shape = shape
    this.wanted = [shape.model, shape.id, shape.usage]
  }

  protected learn(answer: JsonObject): void {
    this.model = asText(answer[this.#shape.model])
    this.responseId = asText(answer[this.#shape.id])
    this.#usage = answer[this.#shape.usage]
    this.#tokens = this.#shape.readUsage(this.#usage)
  }

  protected readEvent(event: StreamEvent): EventReading {
    return ordinary(event, event.data.length > 0)
  }

  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event)
  }

  end(): string | null {
    return null
  }

  usage(): TokenUsage | null {
    return this.#tokens
  }

  override usageDetail(): UsageDetail | null {
    return this.#shape.readDetail?.(this.#usage) ?? null
  }
}
