import { scanObject } from '../../core/json/json-scan.ts'
import { asArray, asObject, asText, type JsonObject, parseObject, readMembers } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary } from '../base-reader.ts'
import type { BodyReading, EventReading, StreamEvent } from '../contract.ts'
import { findMember, readLastMember } from '../event-search.ts'
import { laterUsage } from '../usage.ts'
import { readStreamedError } from './errors.ts'
import { readGenerateDetail, readGenerateUsage, readSearches } from './usage.ts'

/** generateContent and streamGenerateContent, as SSE and as JSON array. Source: wire/streaming.md, section 4. */
export class GenerateReader extends BaseReader {
  protected readonly wanted = ['modelVersion', 'responseId', 'usageMetadata']
  override readonly estimable = true
  #tokens: TokenUsage | null = null
  #usage: unknown = null
  #searches: number | null = null
  /** The last event with usage. Its values are running totals, so only the last one is parsed, and only when needed. */
  #lastUsage: Buffer | null = null
  #begun = false
  #finished = false
  /** The array's bracket was seen. */
  #closed = false
  #failed = false

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.modelVersion)
    this.responseId ??= asText(answer.responseId)
    this.#learnUsage(answer.usageMetadata)
    // What a stream was grounded with comes with its end.
    this.#searches = readSearches(answer.candidates, this.model) ?? this.#searches
  }

  /** The candidates are read only where a search is among them. */
  override body(bytes: Buffer): BodyReading {
    const reading = super.body(bytes)
    if (reading.wrong !== null || !bytes.includes(grounding)) return reading
    const scan = scanObject(bytes, ['candidates'])
    if (scan.ok) this.#searches = readSearches(readMembers(bytes, scan.members).candidates, this.model)
    return reading
  }

  #learnUsage(written: unknown): void {
    this.#usage = laterUsage(this.#usage, written)
    this.#tokens = readGenerateUsage(this.#usage) ?? this.#tokens
  }

  protected readEvent(event: StreamEvent): EventReading {
    const { data } = event
    if (data.length === 0) return this.#readClosing(event)
    if (findMember(data, '"usageMetadata"') !== 0) this.#lastUsage = data
    const ends = isEnd(data)
    if (this.#begun && !ends && !data.includes('"error"')) return this.#reading(event)
    return this.#readClosely(event, ends)
  }

  /** The array's closing bracket, which is held with the last element. */
  #readClosing(event: StreamEvent): EventReading {
    this.#closed ||= event.bytes.includes(']')
    return { ...ordinary(event), terminal: this.#finished }
  }

  /** Parses events before the first content, the last one, and those with anything called error. */
  #readClosely(event: StreamEvent, ends: boolean): EventReading {
    const chunk = parseObject(event.data)
    if (chunk === null) return ordinary(event, this.#begun)
    this.#finished ||= ends
    const error = errorObject(chunk.error)
    if (error !== null && chunk.candidates === undefined) {
      this.#failed = true
      return { content: false, terminal: true, error: readStreamedError(error), pass: event.bytes }
    }
    this.learn(chunk)
    this.#begun ||= hasContent(chunk)
    return this.#reading(event)
  }

  /** After a finish reason every event may be the last: usage can arrive by itself. */
  #reading(event: StreamEvent): EventReading {
    return { content: this.#begun, terminal: this.#finished, error: null, pass: event.bytes }
  }

  protected readTail(event: StreamEvent): EventReading {
    this.#begun = true
    if (isEnd(event.data)) this.#finished = true
    const usage = readLastMember(event.data, '"usageMetadata"')
    if (usage !== undefined) {
      this.#lastUsage = null
      this.#learnUsage(usage)
    }
    return this.#reading(event)
  }

  end(): string | null {
    if (this.#failed) return null
    if (!this.#finished) return 'the stream ended without a finishReason'
    return this.framing === 'json-array' && !this.#closed ? 'the array was not closed' : null
  }

  usage(): TokenUsage | null {
    if (this.#lastUsage !== null) {
      this.#learnUsage(parseObject(this.#lastUsage)?.usageMetadata)
      this.#lastUsage = null
    }
    return this.#tokens
  }

  override usageDetail(): UsageDetail | null {
    return readGenerateDetail(this.#usage, this.#searches)
  }
}

const grounding = Buffer.from('"groundingMetadata"')

function isEnd(data: Buffer): boolean {
  return findMember(data, '"finishReason"') !== 0 || findMember(data, '"blockReason"') !== 0
}

/** contract.md rule 10. */
function hasContent(chunk: JsonObject): boolean {
  if (asObject(chunk.promptFeedback) !== null) return true
  return asArray(chunk.candidates).some((value) => {
    const candidate = asObject(value)
    if (asText(candidate?.finishReason) !== null) return true
    return asArray(asObject(candidate?.content)?.parts).some(isFilledPart)
  })
}

/** Any member counts (call, data, code, signature) except an empty text. */
function isFilledPart(value: unknown): boolean {
  const part = asObject(value)
  return (
    part !== null &&
    Object.entries(part).some(([name, member]) => name !== 'thought' && member !== '' && member !== null)
  )
}
