import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import { type Span, scanObject } from '../../core/json/json-scan.ts'
import { asArray, asObject, asText, parseObject, readValue } from '../../core/json/json-value.ts'
import type { ObjectName } from '../../core/objects/stored-object.ts'
import type { EndpointSocket, IssuedCredentials, Match, SocketReader, SocketReading, TurnUsage } from '../contract.ts'
import { emptyReading } from '../frames.ts'
import { forwardedQuery } from '../query.ts'
import { emptyInspection } from '../request-body.ts'
import { readStreamedError } from './errors.ts'
import { nameHandle } from './names.ts'
import { askMessage } from './setup-frame.ts'
import { chargedSearches, readGenerateDetail, readLiveUsage } from './usage.ts'

/** `bodyOf`: the call whose rules for references apply to frames. */
export function liveSocket(bodyOf: Match): EndpointSocket {
  return {
    handshake: (_match, query, tokenModel) => ({
      ...emptyInspection(tokenModel, forwardedQuery(query)),
      streamed: true,
    }),
    ask: (frame) => askMessage(frame, bodyOf),
    reader: (modelOf) => new LiveReader(modelOf),
    // The vendor ends with a closing frame and its reason; its SDKs know no frame for an error.
    errorFrame: () => null,
  }
}

/** The token is the created object's name. The answer has an expiry only if one was requested. */
export function readAuthToken(body: Buffer): IssuedCredentials | null {
  const answer = parseObject(body)
  const name = asText(answer?.name)
  const expiresAt = Date.parse(asText(answer?.expireTime) ?? '')
  return name === null ? null : { secrets: [name], expiresAt: Number.isNaN(expiresAt) ? null : expiresAt }
}

/** A client can resume the session with it on another connection. */
function resumptionHandle(update: unknown): ObjectName[] {
  const handle = asText(asObject(update)?.newHandle)
  return handle === null ? [] : [nameHandle(handle)]
}

const wanted = ['serverContent', 'toolCall', 'usageMetadata', 'sessionResumptionUpdate', 'error']
const turnEnds = ['turnComplete', 'interrupted']
const written = ['modelTurn', 'outputTranscription']
const grounding = 'groundingMetadata'
/** Base64 of 24,000 two-byte samples a second, which count as 25 tokens. */
const audioBytesPerToken = 2560

/** Base64 of 16,000 two-byte samples a second, which count as 25 tokens. */
const heardBytesPerToken = 1706
/** For an image, also a frame of a video. */
const tokensPerImage = 258
const inputs = ['clientContent', 'client_content', 'toolResponse', 'tool_response']
const realtimeInputs = ['realtimeInput', 'realtime_input']
const heard = ['audio', 'mediaChunks', 'media_chunks']

/** Reads what the provider sends on a Live connection. Each message reports only its own usage. */
class LiveReader implements SocketReader {
  turn: TurnUsage | null = null
  step: SocketReader['step'] = null
  written = 0
  sounded = 0
  readonly beside = null
  readonly #modelOf: () => string | null
  #busy = false
  /** Of the turn that runs, until its usage is reported. */
  #searches = 0

  constructor(modelOf: () => string | null) {
    this.#modelOf = modelOf
  }

  frame(frame: Buffer): SocketReading {
    this.turn = null
    this.step = null
    this.written = 0
    this.sounded = 0
    const scan = scanObject(frame, wanted)
    if (!scan.ok) return emptyReading
    let reading = emptyReading
    let usage: unknown = null
    for (const { name, start, end } of scan.members) {
      if (name === 'serverContent') {
        this.#readContent(frame, { start, end })
        continue
      }
      if (name === 'toolCall') {
        this.written += Math.ceil((end - start) / bytesPerToken)
        continue
      }
      const value = readValue(frame, { start, end })
      if (name === 'sessionResumptionUpdate') reading = { ...reading, created: resumptionHandle(value) }
      else if (name === 'usageMetadata') usage = value
      else if (typeof value === 'object' && value !== null)
        reading = { ...reading, error: readStreamedError({ ...value }) }
    }
    if (usage !== null) {
      const searches = chargedSearches(this.#searches, this.#modelOf()) || null
      this.turn = { tokens: readLiveUsage(usage), detail: readGenerateDetail(usage, searches) }
      this.#searches = 0
    }
    return reading
  }

  #readContent(frame: Buffer, span: Span): void {
    const content = scanObject(frame, [...turnEnds, ...written, grounding], span)
    const members = content.ok ? content.members : []
    for (const { name, start, end } of members) {
      if (name === grounding) {
        const queries = asArray(asObject(readValue(frame, { start, end }))?.webSearchQueries).length
        this.#searches = Math.max(this.#searches, queries)
      }
      if (!written.includes(name)) continue
      const part = frame.subarray(start, end)
      const sounded = part.includes('"inlineData"') ? Math.ceil(part.length / audioBytesPerToken) : 0
      this.sounded += sounded
      this.written += sounded || Math.ceil(textLength(readValue(frame, { start, end })) / bytesPerToken)
    }
    const ends = !content.ok || members.some(({ name }) => turnEnds.includes(name))
    // An interrupted answer also completes.
    if (ends) this.step = this.#busy || this.written > 0 ? 'ends' : null
    else if (!this.#busy) this.step = 'begins'
    this.#busy = !ends
  }

  inputOf(frame: Buffer): number {
    const scan = scanObject(frame, [...inputs, ...realtimeInputs])
    if (!scan.ok) return 0
    return scan.members.reduce(
      (sum, { name, start, end }) =>
        sum +
        (inputs.includes(name) ? contentTokens(frame.subarray(start, end)) : realtimeTokens(frame, { start, end })),
      0,
    )
  }

  busy(): boolean {
    return this.#busy
  }
}

/** Sound and images inside a text have the length of their base64, but count as far fewer tokens. */
function contentTokens(part: Buffer): number {
  return Math.ceil(part.length / (part.includes('"inlineData"') ? heardBytesPerToken : bytesPerToken))
}

function realtimeTokens(frame: Buffer, span: Span): number {
  const scan = scanObject(frame, [...heard, 'video', 'text'], span)
  if (!scan.ok) return 0
  let tokens = 0
  for (const { name, start, end } of scan.members) {
    if (name === 'video') tokens += tokensPerImage
    else tokens += Math.ceil((end - start) / (name === 'text' ? bytesPerToken : heardBytesPerToken))
  }
  return tokens
}

/** The length of what a model says, in parts or as a transcript. */
function textLength(value: unknown): number {
  const said = asObject(value)
  const texts = [said?.text, ...asArray(said?.parts).map((part) => asObject(part)?.text)]
  return texts.reduce((sum: number, text) => sum + Buffer.byteLength(asText(text) ?? ''), 0)
}
