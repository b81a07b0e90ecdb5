import { scanObject } from '../core/json/json-scan.ts'
import { asObject, type JsonObject, readMembers } from '../core/json/json-value.ts'
import type { ObjectName } from '../core/objects/stored-object.ts'
import type { TokenUsage, UsageDetail } from '../core/record.ts'
import type { AnswerFacts, AnswerReader, BodyReading, EventReading, Framing, StreamEvent } from './contract.ts'
import { readLastMember } from './event-search.ts'
import { holdsTooMuch } from './json-tree.ts'

const noObjects: readonly ObjectName[] = []
/** Shorter documents cannot contain too many values. */
const manyBytes = 128 * 1024
const usageNames = ['usage', 'usageMetadata', 'service_tier', 'tool_usage']

/** The common part of all lanes' readers: whole answers, and events that are too large to hold. */
export abstract class BaseReader implements AnswerReader {
  protected model: string | null = null
  protected responseId: string | null = null
  protected events = 0
  protected objects: readonly ObjectName[] = noObjects
  #insideEvent = false
  protected readonly framing: Framing | null
  readonly estimable: boolean = false

  constructor(framing: Framing | null) {
    this.framing = framing
  }

  /** Top-level members of a whole answer that `learn` looks at. */
  protected abstract readonly wanted: readonly string[]

  /** Records model, id and usage from an answer, or from a stream event of the same shape. */
  protected abstract learn(answer: JsonObject): void

  protected abstract readEvent(event: StreamEvent): EventReading

  /** Reads the end of an event whose beginning has been sent: whether it is terminal, and its usage. */
  protected abstract readTail(event: StreamEvent): EventReading

  /** Called with the beginning of an oversized event. */
  protected readHead(_event: StreamEvent): void {}

  abstract end(): string | null
  abstract usage(): TokenUsage | null

  usageDetail(): UsageDetail | null {
    return null
  }

  event(event: StreamEvent): EventReading {
    if (event.part === 'whole') {
      if (event.data.length > 0) this.events++
      if (event.data.length > manyBytes && holdsTooMuch(event.data)) return unread(event)
      return this.readEvent(event)
    }
    if (event.part === 'cut') return this.#readCut(event)
    this.#insideEvent = event.part !== 'tail'
    if (event.part === 'tail') return this.readTail(event)
    if (event.part === 'head') {
      this.events++
      this.readHead(event)
    }
    return unread(event)
  }

  body(bytes: Buffer): BodyReading {
    const scan = scanObject(bytes, this.wanted, undefined, null, true)
    if (!scan.ok) return { wrong: 'the answer is not a complete JSON object' }
    this.learn(readMembers(bytes, scan.members))
    return { wrong: null }
  }

  tail(bytes: Buffer): void {
    for (const name of usageNames) {
      if (this.wanted.includes(name)) this.learn({ [name]: readLastMember(bytes, `"${name}"`) })
    }
  }

  seen(): AnswerFacts {
    return {
      model: this.model,
      responseId: this.responseId,
      events: this.events,
      sequenceNumber: this.sequenceNumber(),
      framing: this.framing,
      insideEvent: this.#insideEvent,
      objects: this.objects,
      shown: this.shown(),
    }
  }

  protected shown(): AnswerFacts['shown'] {
    return null
  }

  protected sequenceNumber(): number | null {
    return null
  }

  /**
   * Half an event is dropped, so that the stream can still end with a readable error. If the stream is complete, a
   * sloppy end is forwarded.
   */
  #readCut(event: StreamEvent): EventReading {
    const reading = this.readEvent(event)
    return this.end() === null ? reading : { ...reading, pass: null }
  }
}

/** An event that is too large to hold, or has too many values to parse, must be sent, so it counts as content. */
function unread(event: StreamEvent): EventReading {
  return { content: true, terminal: false, error: null, pass: event.bytes }
}

export function ordinary(event: StreamEvent, content = false): EventReading {
  return { content, terminal: false, error: null, pass: event.bytes }
}

/** A provider's message may be long and contain anything; records keep the beginning. */
export function shortMessage(value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? value : 'The provider reported an error without a message.'
  return text.length <= 500 ? text : `${text.slice(0, 500)}…`
}

/** The `error` of an event, which may be an object or a bare string. */
export function errorObject(value: unknown): JsonObject | null {
  return typeof value === 'string' ? { message: value } : asObject(value)
}
