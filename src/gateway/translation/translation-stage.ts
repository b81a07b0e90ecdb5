import { SseFramer } from '../../core/bytes/sse.ts'
import type { StreamEvent } from '../../core/bytes/stream-event.ts'
import { errorTable, type Fault, fault } from '../../core/errors.ts'
import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import type { EventReading } from '../../lanes/contract.ts'
import { holdsTooMuch } from '../../lanes/json-tree.ts'
import type { ReplyReader, ReplyWriter } from '../../translate/codec.ts'
import { parseLossless } from '../../translate/json.ts'
import type { PausedBlocks } from '../../translate/pausing.ts'
import type { ErrorKind, ReplyError, ReplyEvent } from '../../translate/reply.ts'
import {
  type AnswerStage,
  after,
  endStages,
  isRefused,
  type Passed,
  passEvent,
  type StagePass,
} from '../answer/stage.ts'
import { WrittenTokens } from '../answer/written-tokens.ts'
import type { Leg } from '../upstream/leg.ts'
import type { AnswerTranslation } from './answer-translation.ts'
import { ArrayElements } from './array-elements.ts'
import { HeldReply } from './held-reply.ts'
import { PartNumbers } from './part-numbers.ts'
import type { ReplyNames } from './reply-names.ts'
import { brokenFinish, loseImage, readError, replyNames } from './translated-answer.ts'
import type { TurnRecorder } from './turn-recorder.ts'

/** The largest event that is put together from several pieces. */
const mostEventBytes = 16 * 1024 * 1024

/**
 * Translates a provider's stream for the client. The later stages must see the client's format, so they run inside this one: its output is
 * cut into events again for them.
 */
export class TranslationStage implements AnswerStage {
  readonly faultIfUnread: Fault | null = null
  readonly #translation: AnswerTranslation
  /** The leg of the last part of the answer so far. */
  #leg: Leg
  readonly #inner: readonly AnswerStage[]
  #reader: ReplyReader
  readonly #numbers = new PartNumbers()
  #blocks: PausedBlocks | null
  readonly #writer: ReplyWriter
  readonly #framer: SseFramer | null
  /** For a client that reads a JSON array. */
  readonly #elements: ArrayElements | null
  readonly #names: ReplyNames
  readonly #recorder: TurnRecorder | null
  readonly #held: HeldReply
  readonly #written: WrittenTokens
  #over = false
  /** Pieces of an event that is larger than what is held. */
  #pieces: Buffer[] = []
  #pieceBytes = 0

  constructor(translation: AnswerTranslation, leg: Leg, inner: readonly AnswerStage[]) {
    this.#translation = translation
    this.#leg = leg
    this.#inner = inner
    this.#reader = translation.upstream.openReader()
    this.#written = new WrittenTokens(leg.call.openHold !== null)
    this.#writer = translation.client.openWriter(translation.writeContext(() => this.#leg, this.#written))
    this.#blocks = translation.openBlocks()
    this.#names = replyNames(translation, leg)
    this.#recorder = translation.openRecorder(leg)
    this.#held = new HeldReply(leg)
    this.#framer = inner.length === 0 ? null : new SseFramer()
    this.#elements = leg.call.inspection.framing === 'json-array' ? new ArrayElements() : null
  }

  event(event: StreamEvent, _pass: Buffer | null, reading: EventReading): StagePass {
    if (this.#over) return null
    if (reading.content) this.#written.add(event)
    if (reading.error !== null) return this.#providerError(reading.error)
    const whole = event.part === 'whole' || event.part === 'cut' ? event : this.#join(event)
    if (whole === null) return null
    if ('code' in whole) return whole
    const { data } = whole
    if (data.length === 0) return null
    if (data.length > 128 * 1024 && holdsTooMuch(data)) return tooMuch
    const parsed = asObject(parseLossless(data))
    // `[DONE]`, or an event that only keeps the connection alive. A broken object is an error.
    if (parsed === null) return data[0] === openBrace ? unreadable : null
    const refused = this.#collect(parsed, data)
    return refused ?? this.#write(this.#reader.event(whole.name, parsed))
  }

  /** The provider's terminal event has come. Null: it has not paused. */
  afterPause(): Promise<Leg | null> | null {
    const blocks = this.#over ? null : (this.#blocks?.read() ?? null)
    return blocks === null ? null : this.#askForRest(blocks)
  }

  async #askForRest(blocks: readonly string[]): Promise<Leg | null> {
    const leg = await this.#translation.goOn(this.#leg, blocks)
    if (leg === null) return null
    this.#leg = leg
    this.#reader = this.#translation.upstream.openReader()
    this.#blocks = this.#translation.openBlocks()
    this.#numbers.begin()
    return leg
  }

  /** Keeps what the provider would need back to continue, in addition to what the codecs hold. */
  #collect(event: JsonObject, data: Buffer): Fault | null {
    if (this.#blocks === null) return null
    this.#blocks.add(event)
    return this.#held.hold(data.length)
  }

  end(): StagePass {
    if (this.#over) return null
    return after(this.#read(this.#reader.end()), (last) => {
      if (isRefused(last)) return last
      this.#over = true
      return after(this.#through(this.#writer.end()), (closed) =>
        after(isRefused(closed) ? closed : endStages(this.#inner), (rest) => {
          if (isRefused(closed)) return closed
          if (isRefused(rest)) return rest
          const pieces = [last, closed, rest].filter((piece) => piece !== null)
          return this.#shape(Buffer.concat(pieces), true)
        }),
      )
    })
  }

  whole(body: Buffer): Buffer {
    return body
  }

  /** Ends the stream if the gateway, not the provider, has to. */
  broken(reason: Fault): Buffer {
    this.#over = true
    return this.#shape(Buffer.from(this.#writer.error(errorOf(reason))), true) ?? Buffer.alloc(0)
  }

  #providerError({ status, written }: NonNullable<EventReading['error']>): Buffer | null {
    this.#over = true
    const body = Buffer.from(JSON.stringify({ error: written }))
    const error = readError(this.#translation, this.#leg, status ?? 500, body)
    return this.#shape(Buffer.from(this.#writer.error(error)), true)
  }

  #write(read: readonly ReplyEvent[]): StagePass {
    return after(this.#read(read), (passed) =>
      isRefused(passed) || passed === null ? passed : this.#shape(passed, false),
    )
  }

  #read(read: readonly ReplyEvent[]): StagePass {
    const refused = this.#held.add(read)
    if (refused !== null) return refused
    const events = this.#names.events(this.#blocks === null ? read : this.#numbers.events(read))
    // Recorded before the client learns of the calls.
    this.#recorder?.events(events)
    for (const event of events) {
      if (event.kind === 'dropped') this.#translation.lose(`answer.${event.name}`)
      else if (event.kind === 'image') loseImage(this.#translation)
      if (event.kind === 'stop' && event.stop.reason === 'broken') return brokenFinish(event.stop.explanation)
    }
    const text = events.length === 0 ? '' : this.#writer.events(events)
    return text === '' ? null : this.#through(text)
  }

  /** Passes text through the stages that see the client's format. */
  #through(text: string): StagePass {
    const bytes = Buffer.from(text)
    return this.#framer === null ? bytes : this.#passAll(this.#framer.push(bytes), [])
  }

  #passAll(events: readonly StreamEvent[], passed: Buffer[]): StagePass {
    for (const [at, event] of events.entries()) {
      const passing = passEvent(this.#inner, event, { content: true, terminal: false, error: null, pass: event.bytes })
      if (passing instanceof Promise)
        return passing.then((later) => add(passed, later) ?? this.#passAll(events.slice(at + 1), passed))
      const refused = add(passed, passing)
      if (refused !== null) return refused
    }
    return Buffer.concat(passed)
  }

  #shape(bytes: Buffer, last: boolean): Buffer | null {
    const shaped = this.#elements === null ? bytes : this.#elements.write(bytes, last)
    return shaped.length === 0 ? null : shaped
  }

  #join(event: StreamEvent): StreamEvent | Fault | null {
    this.#pieces.push(event.bytes)
    this.#pieceBytes += event.bytes.length
    const refused = this.#pieceBytes > mostEventBytes ? tooMuch : this.#held.hold(event.bytes.length)
    if (refused !== null) return refused
    if (event.part !== 'tail') return null
    const [whole] = new SseFramer().push(Buffer.concat(this.#pieces))
    this.#held.hold(-this.#pieceBytes)
    this.#pieces = []
    this.#pieceBytes = 0
    return whole ?? null
  }
}

/** Appends a stage's output; returns its fault if it refused. */
function add(passed: Buffer[], one: Passed): Fault | null {
  if (isRefused(one)) return one
  if (one !== null) passed.push(one)
  return null
}

const openBrace = 0x7b

const unreadable = fault('provider_bad_response', 'An event of the stream is not JSON, so its content is lost.')

const tooMuch = fault(
  'provider_bad_response',
  'An event of the stream is too large, or holds too many values, to be translated.',
)

const kinds: Readonly<Record<number, ErrorKind>> = {
  400: 'invalid',
  403: 'permission',
  404: 'not-found',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
}

function errorOf({ code, message, param }: Fault): ReplyError {
  const { status } = errorTable[code]
  return { status, kind: kinds[status] ?? 'internal', message, param: param ?? null }
}
