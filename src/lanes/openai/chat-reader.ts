import { locateInEvent } from '../../core/bytes/sse.ts'
import { cutSpan, type Member, scanObject } from '../../core/json/json-scan.ts'
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { TokenUsage, UsageConvention, UsageDetail } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary } from '../base-reader.ts'
import type { AnswerReader, BodyPatch, EventReading, Framing, Inspection, StreamEvent } from '../contract.ts'
import { findMember, readLastMember } from '../event-search.ts'
import { laterUsage } from '../usage.ts'
import { readStreamedError } from './errors.ts'
import { chatObjects } from './objects/created-objects.ts'
import { readChatUsage, readUsageDetail } from './usage.ts'

const doneMark = Buffer.from('[DONE]')
const quoteByte = 0x22
const nullByte = 0x6e

/** Chat completions and legacy completions, whole and streamed. Source: wire/streaming.md, section 1. */
export class ChatReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage', 'x_groq', 'service_tier']
  override readonly estimable = true
  readonly #hidesUsage: boolean
  readonly #convention: UsageConvention | undefined
  #tokens: TokenUsage | null = null
  #usage: unknown = null
  #tier: unknown = null
  #begun = false
  #finished = false
  #done = false
  #failed = false

  /** `hidesUsage`: the gateway asked for usage, which the client must not see. */
  constructor(framing: Framing | null, hidesUsage: boolean, convention?: UsageConvention) {
    super(framing)
    this.#hidesUsage = hidesUsage
    this.#convention = convention
  }

  protected learn(answer: JsonObject): void {
    // Nothing after the end counts, whether it arrived with it or later.
    if (this.#done) return
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
    // Groq reports the usage of a stream in a member of its own where it is not asked for, and beside `usage` where it is.
    const written = asObject(answer.usage) ?? asObject(asObject(answer.x_groq)?.usage)
    if (written !== null) {
      this.#usage = this.#usage === null ? written : laterUsage(this.#usage, written)
      this.#tokens = readChatUsage(this.#usage, this.#convention) ?? this.#tokens
    }
    this.#tier = answer.service_tier ?? this.#tier
  }

  protected readEvent(event: StreamEvent): EventReading {
    const { data } = event
    if (data.length === 0) return ordinary(event)
    if (data.length <= 8 && isDone(data)) {
      this.#done = true
      return { content: false, terminal: true, error: null, pass: event.bytes }
    }
    // A finish reason is always a string; before the last chunk of a choice it is null.
    const finishes = !this.#finished && findMember(data, '"finish_reason"') === quoteByte
    if (this.#begun && !finishes) {
      const plain = this.#readPlain(event)
      if (plain !== null) return plain
    }
    const chunk = parseObject(data)
    if (chunk === null) return ordinary(event, this.#begun)
    this.#finished ||= finishes
    return this.#readChunk(event, chunk)
  }

  /** An ordinary content chunk is not parsed. `usage: null` is on every chunk of a stream that was asked for usage. */
  #readPlain(event: StreamEvent): EventReading | null {
    const scan = scanObject(event.data, ['usage', 'error', 'x_groq'])
    if (!scan.ok || scan.members.some((member) => event.data[member.start] !== nullByte)) return null
    const usage = this.#hidesUsage ? scan.members.find((member) => member.name === 'usage') : undefined
    return { ...ordinary(event, true), pass: usage === undefined ? event.bytes : cutMember(event, usage) }
  }

  /** Parses events before the first content, and those with a finish reason, usage or anything called error. */
  #readChunk(event: StreamEvent, chunk: JsonObject): EventReading {
    const choices = asArray(chunk.choices)
    this.learn(chunk)
    // OpenRouter puts the error beside choices, and the usage so far.
    const error = errorObject(chunk.error)
    if (error !== null && (choices.length === 0 || saysSomething(error))) {
      this.#failed = true
      return { content: false, terminal: true, error: readStreamedError(error), pass: event.bytes }
    }
    if (!this.#begun && choices.some(hasContent)) {
      this.#begun = true
      this.objects = chatObjects(chunk)
    }
    const content = this.#begun && choices.length > 0
    const pass = this.#hidesUsage ? hideUsage(event, chunk, choices) : event.bytes
    return { content, terminal: false, error: null, pass }
  }

  protected readTail(event: StreamEvent): EventReading {
    this.#begun = true
    if (findMember(event.data, '"finish_reason"') === quoteByte) this.#finished = true
    this.learn({ usage: readLastMember(event.data, '"usage"') })
    return ordinary(event, true)
  }

  /** Some compatible vendors leave `[DONE]` out, so a finish reason also counts as the end. */
  end(): string | null {
    return this.#done || this.#finished || this.#failed
      ? null
      : 'the stream ended without a finish reason and without [DONE]'
  }

  usage(): TokenUsage | null {
    return this.#tokens
  }

  override usageDetail(): UsageDetail | null {
    // These models search for every answer, and do not say so.
    return readUsageDetail(this.#usage, this.#tier, searchModel.test(this.model ?? '') ? { searches: 1 } : null)
  }
}

const searchModel = /-search-(?:preview|api)(?:-|$)/

export function readChat(
  { framing, usagePatch }: Inspection,
  { askForUsage }: BodyPatch,
  convention?: UsageConvention,
): AnswerReader {
  return new ChatReader(framing, askForUsage && usagePatch !== null, convention)
}

/** A vendor may have an empty error on every chunk. */
function saysSomething({ code, message, type }: JsonObject): boolean {
  return [code, message, type].some((value) => value !== undefined && value !== null && value !== '')
}

function isDone(data: Buffer): boolean {
  return data.subarray(0, doneMark.length).equals(doneMark) && data.toString('latin1').trim() === '[DONE]'
}

/** contract.md rule 10; `reasoning…` are the names that compatible vendors use. */
const contentMembers = [
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
  'function_call',
  'audio',
]

function hasContent(value: unknown): boolean {
  const choice = asObject(value)
  if (choice === null) return false
  if (asText(choice.text) !== null) return true
  const delta = asObject(choice.delta)
  return delta !== null && contentMembers.some((name) => isFilled(delta[name]))
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== ''
}

/**
 * Drops the extra chunk and cuts out `usage: null`. Usage beside real choices was sent unasked (some vendors always
 * do): the client would have received it without the gateway too, so it stays.
 */
function hideUsage(event: StreamEvent, chunk: JsonObject, choices: readonly unknown[]): Buffer | null {
  if (chunk.usage === null) return cutNullUsage(event)
  return choices.length === 0 && asObject(chunk.usage) !== null ? null : event.bytes
}

function cutNullUsage(event: StreamEvent): Buffer {
  const scan = scanObject(event.data, ['usage'])
  const member = scan.ok ? scan.members.at(-1) : undefined
  return member === undefined ? event.bytes : cutMember(event, member)
}

function cutMember(event: StreamEvent, member: Member): Buffer {
  const cut = cutSpan(event.data, member)
  return Buffer.concat([
    event.bytes.subarray(0, locateInEvent(event, cut.start)),
    event.bytes.subarray(locateInEvent(event, cut.end)),
  ])
}
