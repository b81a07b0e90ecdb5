import { scanObject } from '../core/json-scan.ts'
import { asObject, type JsonObject, readValue } from '../core/json-value.ts'
import type { TokenUsage } from '../core/record.ts'
import type { ObjectName } from '../core/stored-object.ts'
import type { AnswerReader, BodyReading, EventReading, Framing, Seen, StreamEvent } from './contract.ts'
import { readLastMember } from './event-search.ts'

const noObjects: readonly ObjectName[] = []
const usageNames = ['usage', 'usageMetadata']

/** What the readers of all lanes have in common: whole answers, and events too large to be held. */
export abstract class BaseReader implements AnswerReader {
  protected model: string | null = null
  protected responseId: string | null = null
  protected events = 0
  protected objects: readonly ObjectName[] = noObjects
  #insideEvent = false
  protected readonly framing: Framing | null

  constructor(framing: Framing | null) {
    this.framing = framing
  }

  /** Top-level members of a whole answer that `learn` looks at. */
  protected abstract readonly wanted: readonly string[]

  /** Takes model, id and usage from an answer (or from a stream event of the same shape). */
  protected abstract learn(answer: JsonObject): void

  protected abstract readEvent(event: StreamEvent): EventReading

  /** The end of an event whose head has gone out: whether it is terminal, and what usage stands there. */
  protected abstract readTail(event: StreamEvent): EventReading

  /** Called with what was parsed of an oversized event's beginning. */
  protected readHead(_event: StreamEvent): void {}

  abstract end(): string | null
  abstract usage(): TokenUsage | null

  event(event: StreamEvent): EventReading {
    if (event.part === 'whole') {
      if (event.data.length > 0) this.events++
      return this.readEvent(event)
    }
    if (event.part === 'cut') return this.#readCut(event)
    this.#insideEvent = event.part !== 'tail'
    if (event.part === 'tail') return this.readTail(event)
    if (event.part === 'head') {
      this.events++
      this.readHead(event)
    }
    // Whatever is larger than the hold must flow, so it counts as content.
    return { content: true, terminal: false, error: null, pass: event.bytes }
  }

  body(bytes: Buffer): BodyReading {
    const scan = scanObject(bytes, this.wanted, undefined, null, true)
    if (!scan.ok) return { wrong: 'the answer is not a complete JSON object' }
    this.learn(Object.fromEntries(scan.members.map((member) => [member.name, readValue(bytes, member)])))
    return { wrong: null }
  }

  tail(bytes: Buffer): void {
    for (const name of usageNames) {
      if (this.wanted.includes(name)) this.learn({ [name]: readLastMember(bytes, `"${name}"`) })
    }
  }

  seen(): Seen {
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

  protected shown(): TokenUsage | null {
    return null
  }

  protected sequenceNumber(): number | null {
    return null
  }

  /** Half an event is dropped, so that the stream can still end in a readable error; sloppy ends of a complete stream pass. */
  #readCut(event: StreamEvent): EventReading {
    const reading = this.readEvent(event)
    return this.end() === null ? reading : { ...reading, pass: null }
  }
}

export function ordinary(event: StreamEvent, content = false): EventReading {
  return { content, terminal: false, error: null, pass: event.bytes }
}

/** A provider's message may be long and holds whatever it likes; records keep the beginning. */
export function shortMessage(value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? value : 'The provider reported an error without a message.'
  return text.length <= 500 ? text : `${text.slice(0, 500)}…`
}

/** `error` of an event, where it is an object or a bare text. */
export function errorObject(value: unknown): JsonObject | null {
  return typeof value === 'string' ? { message: value } : asObject(value)
}
