import { asObject, asText, type JsonObject, parseObject } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import type { SocketReader, SocketReading, TurnUsage } from '../contract.ts'
import { emptyReading } from '../frames.ts'
import { readStreamedError } from './errors.ts'
import { responseObjects } from './objects/created-objects.ts'
import { deltaTokens, isSound, scanEvent } from './socket-frames.ts'
import { readCalls, readImageTool, readResponsesUsage, readUsageDetail } from './usage.ts'

/** Each of these ends a response and reports its usage: the first on Realtime, the others on Responses. */
const ends = new Set(['response.done', 'response.completed', 'response.incomplete', 'response.failed'])
const transcription = 'conversation.item.input_audio_transcription.'
const transcribed = `${transcription}completed`
/** These say what the session is set up for. */
const setups = new Set(
  ['session', 'transcription_session'].flatMap((session) => [`${session}.created`, `${session}.updated`]),
)
const parsed = new Set([
  ...ends,
  ...setups,
  ...[transcribed, 'response.created', 'response.event', 'session.started', 'error'],
])

/** What a provider sends on Realtime, Responses and Live connections. Source: the types of the vendor's SDK. */
export class OpenaiSocketReader implements SocketReader {
  turn: TurnUsage | null = null
  step: SocketReader['step'] = null
  written = 0
  sounded = 0
  beside: TurnUsage | null = null
  /** The model that writes down what the user says. */
  #transcriber: string | null = null
  #open = 0
  /** The response that ended last: a repeated end reports nothing new. */
  #ended: string | null = null
  readonly #keepsResponses: boolean

  /** `keepsResponses`: the provider stores the responses created here, unless it is asked not to. */
  constructor(keepsResponses: boolean) {
    this.#keepsResponses = keepsResponses
  }

  frame(frame: Buffer): SocketReading {
    this.turn = null
    this.step = null
    this.beside = null
    const { type, delta } = scanEvent(frame)
    // What the user says is no part of an answer.
    this.#write(type, type.startsWith(transcription) ? null : delta)
    const event = parsed.has(type) ? parseObject(frame) : null
    return event === null ? emptyReading : this.#read(type, event)
  }

  busy(): boolean {
    return this.#open > 0
  }

  #read(type: string, event: JsonObject): SocketReading {
    if (type === 'response.event') {
      const nested = asObject(event.event)
      const inner = asText(nested?.type) ?? ''
      const delta = asText(nested?.delta)
      if (delta !== null) this.#write(inner, Buffer.byteLength(delta))
      return nested === null ? emptyReading : this.#read(inner, nested)
    }
    if (type === 'error') {
      // On Responses an error ends the response; on Realtime and Live a session goes on after one.
      if (this.#keepsResponses) this.#close(this.#open)
      return { ...emptyReading, error: readStreamedError(asObject(event.error) ?? event) }
    }
    if (type === transcribed) {
      this.beside = readTranscription(event.usage, this.#transcriber)
      return emptyReading
    }
    if (setups.has(type)) {
      this.#transcriber = findTranscriber(asObject(event.session)) ?? this.#transcriber
      return emptyReading
    }
    if (type === 'session.started')
      return reading({ type: 'live_session', id: asText(asObject(event.session)?.id) }, true)
    const response = asObject(event.response)
    if (type === 'response.created') {
      this.#open++
      this.#ended = null
      this.step = 'begins'
      const kept = this.#keepsResponses && response?.store !== false
      return reading({ type: 'response', id: asText(response?.id) }, kept)
    }
    if (!ends.has(type)) return emptyReading
    const error = failure(response)
    const id = asText(response?.id)
    if (id !== null && id === this.#ended) return { ...emptyReading, error }
    this.#ended = id
    this.#close(1)
    const tokens = readResponsesUsage(response?.usage)
    const calls = response === null ? null : readCalls(response)
    const detail = readUsageDetail(response?.usage, response?.service_tier, calls)
    const model = asText(response?.model)
    this.beside = response === null ? null : readImageTool(response)
    this.turn = tokens === null && detail === null ? null : { tokens, detail, ...(model === null ? {} : { model }) }
    if (response === null || type === 'response.done') return { ...emptyReading, error }
    return {
      error,
      seen: responseObjects(response, true),
      created: this.#keepsResponses ? responseObjects(response, true) : [],
    }
  }

  #write(type: string, bytes: number | null): void {
    this.written = bytes === null ? 0 : deltaTokens(type, bytes)
    this.sounded = isSound(type) ? this.written : 0
  }

  #close(count: number): void {
    if (count > 0) this.step = 'ends'
    this.#open = Math.max(0, this.#open - count)
  }
}

/** In tokens, or by its seconds, as the model is billed. Source: the types of the vendor's SDK. */
function readTranscription(usage: unknown, model: string | null): TurnUsage | null {
  const tokens = readResponsesUsage(usage)
  const detail = readUsageDetail(usage, null)
  return tokens === null && detail === null ? null : { tokens, detail, ...(model === null ? {} : { model }) }
}

/** Where sessions name it now, and where they did. */
function findTranscriber(session: JsonObject | null): string | null {
  const input = asObject(asObject(session?.audio)?.input)
  const named = asObject(input?.transcription) ?? asObject(session?.input_audio_transcription)
  return asText(named?.model)
}

/** Of a response that failed: in `error` on Responses, in `status_details` on Realtime. */
function failure(response: JsonObject | null): SocketReading['error'] {
  if (response?.status !== 'failed') return null
  return readStreamedError(asObject(response.error) ?? asObject(asObject(response.status_details)?.error) ?? {})
}

function reading({ type, id }: { type: ObjectName['type']; id: string | null }, kept: boolean): SocketReading {
  if (id === null) return emptyReading
  const named = [{ type, id }]
  return { ...emptyReading, seen: named, created: kept ? named : [] }
}
