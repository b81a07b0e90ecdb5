import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import type { TurnUsage } from '../contract.ts'
import type { ResultUsage } from '../earlier-work.ts'
import { believe, readCount, usageDetail } from '../usage.ts'

/** No real answer has more. */
const mostIterations = 1000

const counted = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'] as const

/** Counts as the provider wrote them; later ones replace earlier ones, and null and zero replace nothing. */
export class MessageUsage {
  #counts: Partial<Record<(typeof counted)[number], number>> = {}
  #thinking = 0
  #longWrite: unknown = null
  #searches: unknown = null
  #tier: unknown = null
  #speed: unknown = null
  #geo: unknown = null
  /** Of the model's calls for this answer, each by itself. */
  #iterations: readonly JsonObject[] = []

  /** The output reported at the start of a stream does not cover what follows. */
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
    this.#speed = usage.speed ?? this.#speed
    this.#geo = usage.inference_geo ?? this.#geo
    const iterations = asArray(usage.iterations).slice(0, mostIterations)
    if (iterations.length > 0) this.#iterations = iterations.map((each) => asObject(each) ?? {})
  }

  /** The model that has answered in place of the one that was asked; null: none has. */
  answeredBy(): string | null {
    return asText(this.#iterations.findLast(({ type }) => type === 'fallback_message')?.model)
  }

  /**
   * What the counts leave out: an adviser, a compaction, and a model that declined in the midst of its answer; one that has written
   * nothing is not charged. Source: the types of the vendor's SDK (`BetaIterationsUsage`), and its guide on fallback and billing.
   */
  beside(): TurnUsage[] {
    const used: TurnUsage[] = []
    const answered = this.answeredBy()
    for (const iteration of this.#iterations) {
      const model = asText(iteration.model)
      const declined = iteration.type === 'message' && answered !== null && model !== null && model !== answered
      const isOther = iteration.type === 'advisor_message' || iteration.type === 'compaction'
      if (!isOther && !(declined && readCount(iteration.output_tokens) !== 0)) continue
      const own = new MessageUsage()
      own.take({
        speed: this.#speed,
        inference_geo: this.#geo,
        ...iteration,
        service_tier: this.#tier,
        iterations: null,
      })
      used.push({ tokens: own.read(), detail: own.detail(), ...(model !== null && { model }) })
    }
    return used
  }

  detail(): UsageDetail | null {
    const tier = this.#tier
    return usageDetail({
      cache_write_1h: this.#longWrite,
      searches: this.#searches,
      // The priority tier of this vendor is paid in advance; fast mode is what costs more.
      tier: this.#speed === 'fast' ? 'fast' : tier,
      geo: asText(this.#geo)?.toLowerCase(),
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
  const own = asText(message?.model)
  const beside = usage
    .beside()
    .flatMap(({ model = own, tokens: used, detail }) => (used === null ? [] : [{ model, tokens: used, detail }]))
  return tokens === null ? null : { model: own, tokens, detail: usage.detail(), beside }
}
