import { asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary, shortMessage } from '../base-reader.ts'
import type { AnswerFacts, EventReading, Framing, StreamEvent } from '../contract.ts'
import { countParts, readInteractionDetail } from './usage.ts'

const eventType = /"event_type"\s*:\s*"([a-z_.]+)"/
const doneMark = Buffer.from('[DONE]')

/** Interactions, whole and streamed, also from an event in the middle on. Source: wire/streaming.md, section 4. */
export class InteractionsReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage', 'environment_id', 'service_tier']
  override readonly estimable: boolean
  #tokens: TokenUsage | null = null
  #usage: unknown = null
  #tier: unknown = null
  #ended = false

  /** `counts`: the answer is created now. A stored one was counted when it was created. */
  constructor(framing: Framing | null, counts: boolean) {
    super(framing)
    this.estimable = counts
  }

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
    this.#tokens = readInteractionUsage(answer.usage) ?? this.#tokens
    this.#usage = answer.usage ?? this.#usage
    this.#tier = answer.service_tier ?? this.#tier
    const id = asText(answer.environment_id)
    if (id !== null && this.objects.length === 0) this.objects = [{ type: 'environment', id }]
  }

  protected readEvent(event: StreamEvent): EventReading {
    if (event.data.length === 0) return ordinary(event)
    // The end mark comes alone, after the last event.
    if (event.data.length < 16 && event.data.includes(doneMark)) return this.#end(event)
    const type = eventType.exec(event.data.toString('latin1', 0, 4096))?.[1] ?? ''
    if (type === 'step.start' || type === 'step.delta') return ordinary(event, true)
    const data = type === 'step.stop' ? null : parseObject(event.data)
    const error = type === 'error' ? errorObject(data?.error) : null
    if (error !== null) return this.#fail(event, error)
    const interaction = asObject(data?.interaction) ?? {}
    this.learn({ ...interaction, usage: interaction.usage ?? data?.usage })
    return type === 'interaction.completed' ? this.#end(event) : ordinary(event)
  }

  #end(event: StreamEvent): EventReading {
    this.#ended = true
    return { content: false, terminal: true, error: null, pass: event.bytes }
  }

  #fail(event: StreamEvent, error: JsonObject): EventReading {
    this.#ended = true
    const status = ownValue(statuses, String(error.code)) ?? null
    const message = shortMessage(error.message)
    return {
      content: false,
      terminal: true,
      error: { code: 'provider_error', origin: 'provider', status, message, written: error },
      pass: event.bytes,
    }
  }

  /** A large event has content, or is the whole interaction at its end. */
  protected readTail(event: StreamEvent): EventReading {
    return ordinary(event, true)
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without interaction.completed'
  }

  usage(): TokenUsage | null {
    return this.estimable ? this.#tokens : null
  }

  override usageDetail(): UsageDetail | null {
    return this.estimable ? readInteractionDetail(this.#usage, this.model, this.#tier) : null
  }

  protected override shown(): AnswerFacts['shown'] {
    const [tokens, { model }] = [this.#tokens, this]
    if (this.estimable || !this.#ended || tokens === null) return null
    return [{ model, lines: 1, tokens, detail: readInteractionDetail(this.#usage, model, this.#tier) }]
  }
}

/** Error codes are words in this family. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  resource_exhausted: 429,
  internal: 500,
  unavailable: 503,
  deadline_exceeded: 504,
}

/** Source: wire/streaming.md, section 4. */
export function readInteractionUsage(value: unknown): TokenUsage | null {
  const usage = asObject(value)
  if (usage === null) return null
  return countParts({
    input: [usage.total_input_tokens, usage.total_tool_use_tokens],
    output: usage.total_output_tokens,
    reasoning: usage.total_thought_tokens,
    cached: usage.total_cached_tokens,
    total: usage.total_tokens,
  })
}
