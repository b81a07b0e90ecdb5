import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReplyReader } from '../codec.ts'
import type { TokenLogprob } from '../conversation.ts'
import { readLogprobs } from '../logprobs.ts'
import type { ReplyEvent } from '../reply.ts'
import { areArguments, cutsCalls, finalReason } from '../stop.ts'
import { thoughtSignature } from './carriers.ts'
import { readAnnotations } from './citations.ts'
import { readFinish } from './finish.ts'
import { isNew, lostLogprobs, lostOfAnswer, lostOfChoice, lostOfMessage, readContent } from './read-reply.ts'
import { ReasoningDetails } from './reasoning-details.ts'

interface StreamedCall {
  part: number
  id: string | null
  arguments: string
  brackets: Brackets
  /** Null: nobody has looked yet. */
  isWhole: boolean | null
  custom: boolean
}

/** Reads a chat provider's chunks. Calls may be interleaved, and servers differ in what they leave out. */
export class ChatStreamReader implements ReplyReader {
  #started = false
  #parts = 0
  /** The text, reasoning or refusal in progress. */
  #open: { kind: 'text' | 'reasoning' | 'refusal'; part: number } | null = null
  readonly #calls = new Map<string | number, StreamedCall>()
  #lastKey: string | number = 0
  /** Calls in the order in which they began. */
  readonly #begun: StreamedCall[] = []
  readonly #ids = new Set<string>()
  readonly #details = new ReasoningDetails()
  #finish: unknown = null
  #refused = false
  /** Answers beside the first, which nobody has asked for. */
  #hasOthers = false

  event(_: string, data: JsonObject): readonly ReplyEvent[] {
    const events: ReplyEvent[] = []
    const choices = asArray(data.choices).map(asObject)
    const choice = choices.find((one) => one !== null && (one.index ?? 0) === 0)
    const [id, model] = [asString(data.id), asString(data.model)]
    // Azure reports what its filters found in the prompt before it names the model.
    if (!this.#started && (choice || id !== '' || model !== '')) {
      this.#started = true
      events.push({ kind: 'start', id, model })
    }
    for (const name of lostOfAnswer(data)) events.push({ kind: 'dropped', name })
    if (choices.length > (choice ? 1 : 0) && !this.#hasOthers) {
      this.#hasOthers = true
      events.push({ kind: 'dropped', name: 'choices[1]' })
    }
    if (!choice) return events
    for (const name of lostOfChoice(choice)) events.push({ kind: 'dropped', name })
    const delta = asObject(choice.delta)
    const logprobs = asObject(choice.logprobs)
    const tokens = logprobs === null ? undefined : readLogprobs(logprobs.content)
    if (delta !== null) this.#readDelta(delta, tokens, events)
    this.#finish = choice.finish_reason ?? this.#finish
    if (delta !== null)
      for (const name of lostOfMessage(delta)) events.push({ kind: 'dropped', name: `message.${name}` })
    for (const name of lostLogprobs(logprobs, typeof delta?.content === 'string'))
      events.push({ kind: 'dropped', name })
    return events
  }

  end(): readonly ReplyEvent[] {
    const events: ReplyEvent[] = []
    this.#close(events)
    const [last, opaque] = [this.#begun.at(-1), this.#details.opaque]
    if (last !== undefined && opaque !== null) events.push({ kind: 'opaque', part: last.part, opaque })
    else if (this.#details.isSigned) events.push({ kind: 'dropped', name: 'message.reasoning_details' })
    for (const { part } of this.#begun) events.push({ kind: 'part-end', part })
    const finish = readFinish(this.#finish, this.#refused)
    const broken = !cutsCalls(finish) && this.#begun.some((call) => !call.custom && !areArguments(call.arguments))
    const reason = broken ? 'broken' : finalReason(finish, this.#begun.length > 0)
    events.push({ kind: 'stop', stop: { reason, sequence: null, explanation: null } })
    return events
  }

  #readDelta(delta: JsonObject, tokens: readonly TokenLogprob[] | undefined, events: ReplyEvent[]): void {
    const { content, reasoning } = readContent(delta.content)
    this.#details.push(delta.reasoning_details)
    this.#say('reasoning', asText(delta.reasoning_content) ?? asText(delta.reasoning) ?? reasoning, events)
    if (tokens !== undefined && typeof delta.content === 'string') this.#sayTokens(content, tokens, events)
    else this.#say('text', content, events)
    this.#say('refusal', asString(delta.refusal), events)
    for (const citation of readAnnotations(delta.annotations)) {
      if (this.#open?.kind === 'text') events.push({ kind: 'citation', part: this.#open.part, citation })
      else events.push({ kind: 'dropped', name: 'message.annotations' })
    }
    for (const call of asArray(delta.tool_calls).map(asObject)) if (call !== null) this.#readCall(call, events)
    const legacy = asObject(delta.function_call)
    if (legacy !== null) this.#readCall({ index: 'function_call', function: legacy }, events)
  }

  #say(kind: 'text' | 'reasoning' | 'refusal', text: string, events: ReplyEvent[]): void {
    if (text === '') return
    this.#refused ||= kind === 'refusal'
    events.push({ kind, part: this.#partOf(kind, events), text })
  }

  #sayTokens(text: string, logprobs: readonly TokenLogprob[], events: ReplyEvent[]): void {
    events.push({ kind: 'text', part: this.#partOf('text', events), text, logprobs })
  }

  #partOf(kind: 'text' | 'reasoning' | 'refusal', events: ReplyEvent[]): number {
    if (this.#open?.kind !== kind) {
      this.#close(events)
      this.#open = { kind, part: this.#parts++ }
    }
    return this.#open.part
  }

  #close(events: ReplyEvent[]): void {
    if (this.#open === null) return
    events.push({ kind: 'part-end', part: this.#open.part })
    this.#open = null
  }

  #readCall(written: JsonObject, events: ReplyEvent[]): void {
    const inside = asObject(written.function) ?? asObject(written.custom)
    const [id, name] = [asText(written.id), asText(inside?.name)]
    const key = this.#keyOf(written.index, id)
    const piece = inside?.arguments ?? inside?.input
    const text = typeof piece === 'string' ? piece : asObject(piece) === null ? '' : JSON.stringify(piece)
    let call = this.#calls.get(key)
    if (call === undefined || (name !== null && isAnother(call, id, text))) {
      // A piece without a name that belongs to no known call is ignored.
      if (name === null) return
      this.#close(events)
      const custom = asObject(written.custom) !== null
      call = { part: this.#parts++, id, arguments: '', brackets: new Brackets(), isWhole: null, custom }
      this.#calls.set(key, call)
      this.#lastKey = key
      this.#begun.push(call)
      events.push({ kind: 'call', part: call.part, id: isNew(id, this.#ids) ? id : null, name, custom: call.custom })
    }
    if (text !== '') {
      call.arguments += text
      if (call.id === null) call.brackets.push(text)
      events.push({ kind: 'arguments', part: call.part, text })
    }
    const value = thoughtSignature(written.extra_content)
    if (value !== null)
      events.push({ kind: 'opaque', part: call.part, opaque: { family: 'gemini', form: 'thought', value } })
  }

  /** Without an index: the call with that id, or the latest call. */
  #keyOf(index: unknown, id: string | null): string | number {
    if (typeof index === 'number' || typeof index === 'string') return index
    return id ?? this.#lastKey
  }
}

/**
 * Some servers give every call the index 0. Then a new id means a new call, and without ids, so does a piece that follows complete
 * arguments.
 */
function isAnother(call: StreamedCall, id: string | null, text: string): boolean {
  if (id !== null && call.id !== null) return call.id !== id
  if (id !== null || call.id !== null || text === '' || !call.brackets.isClosed) return false
  // Of what is closed and cannot be read, more of it makes nothing that can.
  call.isWhole ??= areArguments(call.arguments)
  return call.isWhole
}

/** Follows JSON that comes in pieces to where all is closed that was opened: to look at all of it with each piece costs too much. */
class Brackets {
  #depth = 0
  #inText = false
  #isEscaped = false
  isClosed = false

  push(piece: string): void {
    for (const letter of piece) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (letter === '"') this.#inText = !this.#inText
      else if (this.#inText) this.#isEscaped = letter === '\\'
      else if (letter === '{' || letter === '[') this.#depth++
      else if (letter === '}' || letter === ']') this.isClosed ||= --this.#depth === 0
    }
  }
}
