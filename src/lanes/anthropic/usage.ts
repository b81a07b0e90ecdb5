import { asCount, asObject, asText, type JsonObject, parseObject } from '../../core/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import type { ResultUsage } from '../earlier-work.ts'
import { believe, readCount, usageDetail } from '../usage.ts'

const counted = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const

/** Counts as the provider wrote them; later ones replace earlier ones, and null and zero replace nothing. */
export class MessageUsage {
  #counts: Partial<Record<(typeof counted)[number], number>> = {}
  #thinking = 0
  #longWrite: unknown = null
  #searches: unknown = null
  #tier: unknown = null

  /** What a stream begins with says nothing of what it goes on to write. */
  forgetOutput(): void {
    delete this.#counts.output_tokens
  }

  /** Source: wire/streaming.md, section 3: `message_delta.usage` is cumulative and may leave members out or null. */
  take(value: unknown): void {
    const usage: JsonObject | null = asObject(value)
    if (usage === null) return
    for (const name of counted) {
      const count = readCount(usage[name])
      if (count !== null) this.#counts[name] = count || this.#counts[name] || 0
    }
    this.#thinking = readCount(asObject(usage.output_tokens_details)?.thinking_tokens) ?? this.#thinking
    this.#longWrite = asObject(usage.cache_creation)?.ephemeral_1h_input_tokens ?? this.#longWrite
    this.#searches = asObject(usage.server_tool_use)?.web_search_requests ?? this.#searches
    this.#tier = usage.service_tier ?? this.#tier
  }

  detail(): UsageDetail | null {
    const tier = this.#tier
    return usageDetail({
      cache_write_1h: this.#longWrite,
      searches: this.#searches,
      tier,
      batch: tier === 'batch',
    })
  }

  /** `input_tokens` leaves cached tokens out: the whole prompt is the sum. Source: wire/streaming.md, section 5. */
  read(): TokenUsage | null {
    const counts = this.#counts
    if (counts.input_tokens === undefined && counts.output_tokens === undefined) return null
    const cacheRead = asCount(counts.cache_read_input_tokens)
    const cacheWrite = asCount(counts.cache_creation_input_tokens)
    return believe({
      input: asCount(counts.input_tokens) + cacheRead + cacheWrite,
      output: asCount(counts.output_tokens),
      cache_read: cacheRead,
      cache_write: cacheWrite,
      reasoning: this.#thinking,
      source: 'reported',
    })
  }
}

/** A line of a batch's results: `{custom_id, result: {type, message}}`, with a message where it succeeded. Source: wire/lanes.md, section 2.5. */
export function readResult(line: Buffer): ResultUsage | null {
  const message = asObject(asObject(parseObject(line)?.result)?.message)
  const usage = new MessageUsage()
  usage.take(message?.usage)
  const tokens = usage.read()
  return tokens === null ? null : { model: asText(message?.model), tokens }
}
