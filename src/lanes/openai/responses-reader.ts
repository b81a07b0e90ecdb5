import { scanObject } from '../../core/json/json-scan.ts'
import { asObject, asText, isCount, type JsonObject, parseObject, readMembers } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { BaseReader, errorObject, ordinary } from '../base-reader.ts'
import type { AnswerFacts, BodyReading, EventReading, Framing, StreamEvent, TurnUsage } from '../contract.ts'
import { eventType, readLastMember } from '../event-search.ts'
import { readStreamedError } from './errors.ts'
import { responseObjects } from './objects/created-objects.ts'
import {
  type HostedCalls,
  mayHaveCalls,
  readCalls,
  readImageTool,
  readResponsesUsage,
  readUsageDetail,
  resultsBeside,
} from './usage.ts'

/** No real answer has more. */
const mostItems = 10_000

const terminalTypes = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error'])

/** Responses, whole and streamed. Source: wire/streaming.md, section 2. */
export class ResponsesReader extends BaseReader {
  protected readonly wanted = ['model', 'id', 'usage', 'service_tier', 'tool_usage']
  override readonly estimable: boolean
  #tokens: TokenUsage | null = null
  #usage: unknown = null
  #tier: unknown = null
  #calls: HostedCalls | null = null
  #tools: unknown = null
  #toolUsage: unknown = null
  #last: Buffer | null = null
  #ended = false
  /** The type of an event whose beginning has been sent. */
  #oversized = ''
  /** Later requests can refer to its items. */
  #keepsItems = false
  readonly #items: ObjectName[] = []
  readonly #role: 'made' | 'stored-too' | 'replayed'

  /** `replayed`: the answer was counted when it was created. */
  constructor(framing: Framing | null, role: 'made' | 'stored-too' | 'replayed') {
    super(framing)
    this.#role = role
    this.estimable = role !== 'replayed'
  }

  protected learn(answer: JsonObject): void {
    this.model ??= asText(answer.model)
    this.responseId ??= asText(answer.id)
    this.#tokens = readResponsesUsage(answer.usage) ?? this.#tokens
    this.#usage = answer.usage ?? this.#usage
    this.#tier = answer.service_tier ?? this.#tier
    this.#calls = readCalls(answer) ?? this.#calls
    this.#tools = answer.tools ?? this.#tools
    this.#toolUsage = answer.tool_usage ?? this.#toolUsage
  }

  override tail(bytes: Buffer): void {
    super.tail(bytes)
    if (this.beside().length > 0) this.#tools = readLastMember(bytes, '"tools"')
  }

  /** Items are read only where a tool that is paid by the call is among them. */
  override body(bytes: Buffer): BodyReading {
    const reading = super.body(bytes)
    if (reading.wrong === null && this.beside().length > 0) {
      const tools = scanObject(bytes, ['tools'])
      this.#tools = tools.ok ? readMembers(bytes, tools.members).tools : null
    }
    if (reading.wrong !== null || !mayHaveCalls(bytes)) return reading
    const scan = scanObject(bytes, ['output', 'tools', 'tool_usage'])
    if (scan.ok) this.#calls = readCalls(readMembers(bytes, scan.members)) ?? this.#calls
    return reading
  }

  protected readEvent(event: StreamEvent): EventReading {
    if (event.data.length === 0) return ordinary(event)
    const type = eventType(event)
    this.#last = event.data
    // Nothing after the end counts, whether it arrived with it or later.
    if (this.#ended) return ordinary(event)
    if (type.endsWith('.delta')) return ordinary(event, true)
    if (terminalTypes.has(type)) return this.#readTerminal(event, type)
    if (type === 'response.output_item.added') return this.#readAdded(event)
    if (type === 'response.created') this.#readCreated(asObject(parseObject(event.data)?.response) ?? {})
    return ordinary(event)
  }

  #readCreated(response: JsonObject): void {
    this.learn(response)
    this.#keepsItems = this.#role === 'stored-too' && response.store !== false
  }

  /**
   * contract.md rule 10: a message item is announced before it has content, a call or reasoning is content itself. The end of
   * the stream names all items too, but it may be too large to be read, or never come.
   */
  #readAdded(event: StreamEvent): EventReading {
    const item = asObject(parseObject(event.data)?.item)
    const id = asText(item?.id)
    if (id !== null && this.#keepsItems && this.#items.length < mostItems) this.#items.push({ type: 'item', id })
    this.objects = this.#items
    const type = asText(item?.type)
    return ordinary(event, type !== null && type !== 'message')
  }

  #readTerminal(event: StreamEvent, type: string): EventReading {
    const body = parseObject(event.data)
    if (body === null) return ordinary(event)
    this.#ended = true
    const response = asObject(body.response)
    if (response !== null) this.learn(response)
    if (response !== null && this.#role === 'stored-too') this.#addObjects(responseObjects(response, true))
    if (type === 'response.completed' || type === 'response.incomplete') {
      return { content: false, terminal: true, error: null, pass: event.bytes }
    }
    // The flat form is the documented one; some vendors nest it as for chat.
    const error = errorObject(response?.error) ?? errorObject(body.error) ?? body
    return { content: false, terminal: true, error: readStreamedError(error), pass: event.bytes }
  }

  #addObjects(names: readonly ObjectName[]): void {
    const known = new Set(this.objects.map(({ id }) => id))
    this.objects = [...this.objects, ...names.filter(({ id }) => !known.has(id))]
  }

  protected override readHead(event: StreamEvent): void {
    this.#oversized = eventType(event)
    const number = /"sequence_number"\s*:\s*\d+/.exec(event.data.toString('latin1', 0, 4096))?.[0]
    if (number !== undefined) this.#last = Buffer.from(`{${number}}`)
  }

  protected readTail(event: StreamEvent): EventReading {
    const terminal = terminalTypes.has(this.#oversized)
    if (terminal) {
      this.#ended = true
      const { data } = event
      this.learn({ usage: readLastMember(data, '"usage"'), tool_usage: readLastMember(data, '"tool_usage"') })
    }
    return { content: true, terminal, error: null, pass: event.bytes }
  }

  protected override sequenceNumber(): number | null {
    const value = this.#last === null ? null : readLastMember(this.#last, '"sequence_number"')
    return isCount(value) ? value : null
  }

  end(): string | null {
    return this.#ended ? null : 'the stream ended without response.completed, response.incomplete or response.failed'
  }

  usage(): TokenUsage | null {
    return this.#role === 'replayed' ? null : this.#tokens
  }

  override usageDetail(): UsageDetail | null {
    return this.#role === 'replayed' ? null : readUsageDetail(this.#usage, this.#tier, this.#calls)
  }

  /** Images that a tool makes are of another model. */
  beside(): readonly TurnUsage[] {
    const used = this.#role === 'replayed' ? null : readImageTool({ tools: this.#tools, tool_usage: this.#toolUsage })
    return used === null ? [] : [used]
  }

  protected override shown(): AnswerFacts['shown'] {
    const tokens = this.#tokens
    if (this.#role !== 'replayed' || !this.#ended || tokens === null) return null
    const detail = readUsageDetail(this.#usage, this.#tier, this.#calls)
    const beside = resultsBeside({ tools: this.#tools, tool_usage: this.#toolUsage })
    return [{ model: this.model, lines: 1, tokens, detail }, ...beside.map((used) => ({ ...used, lines: 0 }))]
  }
}
