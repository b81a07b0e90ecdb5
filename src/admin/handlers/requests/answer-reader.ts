import { SseFramer } from '../../../core/bytes/sse.ts'
import type { LaneName } from '../../../core/lane.ts'
import { readAnswerText } from '../../../core/lane-call.ts'

export interface AnswerPart {
  raw: string
  /** What a person reads of it; '' where it holds no text. */
  text: string
}
/** Tells an answer's text: event by event where it is a stream, else when it is whole. */
export class RecordedAnswerReader {
  readonly #lane: LaneName
  readonly #framer: SseFramer | null
  #whole: Buffer[] = []

  constructor(lane: LaneName, streamed: boolean) {
    this.#lane = lane
    this.#framer = streamed ? new SseFramer() : null
  }

  push(bytes: Buffer): AnswerPart[] {
    if (this.#framer !== null) return this.#framer.push(bytes).map((event) => this.#part(event.bytes, event.data))
    this.#whole.push(bytes)
    return []
  }

  rest(): AnswerPart[] {
    const cut = this.#framer?.rest() ?? null
    if (cut !== null) return [this.#part(cut.bytes, cut.data)]
    const whole = Buffer.concat(this.#whole)
    return whole.length === 0 ? [] : [this.#part(whole, whole)]
  }

  #part(bytes: Buffer, data: Buffer): AnswerPart {
    return { raw: bytes.toString('utf8'), text: readAnswerText(this.#lane, parse(data)) }
  }
}

/** `[DONE]`, a comment, an answer that is no JSON: no text is in it. */
function parse(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return null
  }
}

/** The text of a whole answer that was kept. */
export function readWholeText(lane: LaneName, { type, content }: { type: string | null; content: string }): string {
  const reader = new RecordedAnswerReader(lane, isEventStream(type))
  const parts = [...reader.push(Buffer.from(content)), ...reader.rest()]
  return parts.map(({ text }) => text).join('')
}

export function isEventStream(type: string | null | undefined): boolean {
  return /^text\/event-stream\b/i.test(type ?? '')
}
