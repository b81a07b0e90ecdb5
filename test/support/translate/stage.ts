import type { Fault } from '../../../src/core/errors.ts'
import type { FormatName } from '../../../src/core/format.ts'
import { asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { MessageUsage } from '../../../src/lanes/anthropic/usage.ts'
import { readGenerateDetail, readGenerateUsage } from '../../../src/lanes/gemini/usage.ts'
import { readChatUsage, readResponsesUsage, readUsageDetail } from '../../../src/lanes/openai/usage.ts'
import type { Carriers, Codec, TranslationTarget, WriteContext } from '../../../src/translate/codec.ts'
import { blankSettings, type Conversation } from '../../../src/translate/conversation.ts'
import { codecs } from '../../../src/translate/index.ts'
import { joinPieces, readDocument, writeDocument, writeRequestPieces } from '../../../src/translate/json.ts'
import type { ReplyUsage } from '../../../src/translate/reply.ts'
import { writeFor } from '../../../src/translate/write-for.ts'
import { readSse, type SentEvent } from './sse.ts'

export function codecOf(format: FormatName): Codec {
  const codec = codecs[format]
  if (codec === null) throw new Error(`no codec for ${format}`)
  return codec
}

export function isFault(value: object): value is Fault {
  return 'code' in value && 'message' in value
}

/** Seals so that a reader of a golden case can still see what is in it. */
export const plainCarriers: Carriers = {
  seal: (opaque) => `sealed.${Buffer.from(JSON.stringify(opaque)).toString('base64url')}`,
  open: (text) => (text.startsWith('sealed.') ? JSON.parse(Buffer.from(text.slice(7), 'base64url').toString()) : null),
}

export const blankConversation: Conversation = {
  turns: [],
  tools: [],
  toolChoice: null,
  parallelCalls: null,
  settings: blankSettings,
  seen: [],
}

export interface TranslatedRequest {
  conversation: Conversation
  /** As it is sent; null: it was refused. */
  body: string | null
  losses: readonly string[]
  refused: Fault | null
}

export interface RequestOptions extends Partial<Omit<TranslationTarget, 'format'>> {
  strict?: boolean
}

/** A client's request as a provider of another format gets it. */
export function translateRequest(
  from: FormatName,
  to: FormatName,
  text: string,
  { strict = false, ...options }: RequestOptions = {},
): TranslatedRequest {
  const document = readDocument(Buffer.from(text), from)
  if (isFault(document)) throw new Error(document.message)
  const streamed = options.streamed ?? document.value.stream === true
  const conversation = codecOf(from).readRequest(document.value, { streamed, carriers: plainCarriers })
  if (isFault(conversation)) return { conversation: blankConversation, body: null, losses: [], refused: conversation }
  const target = { ...plainTarget, ...options, format: to, streamed }
  const written = writeFor(conversation, from, codecOf(to), { target, providerId: plainProvider, strict })
  if (isFault(written)) return { conversation, body: null, losses: [], refused: written }
  const { losses } = written
  return {
    conversation,
    body: joinPieces(writeRequestPieces(written.body, document.pieces)).toString(),
    losses,
    refused: null,
  }
}

const plainProvider = 'prv_plain'
const plainTarget: Omit<TranslationTarget, 'format'> = {
  model: 'test-model',
  streamed: false,
  maxOutput: null,
  outputCap: null,
  compatible: false,
  logprobs: true,
  streamOptions: true,
}

/** What a writer of answers gets; the usage is what has been read so far. */
export function writeContext(options: Partial<WriteContext> = {}): WriteContext {
  return {
    requestId: 'req_1',
    created: 1_764_000_000,
    conversation: blankConversation,
    estimatedInput: 21,
    usage: () => null,
    reasoningText: true,
    carriers: plainCarriers,
    ...options,
  }
}

/** A provider's whole answer in a client's format. */
export function translateReply(from: FormatName, to: FormatName, text: string, context: WriteContext): string | Fault {
  const document = readDocument(Buffer.from(text))
  if (isFault(document)) throw new Error(document.message)
  const reply = codecOf(to).readReply(document.value)
  if (isFault(reply)) return reply
  const usage = new UsageSoFar(to)
  usage.take(document.value)
  return writeDocument(
    codecOf(from).writeReply(reply, { ...context, usage: () => usage.read() }),
    document.pieces,
  ).toString()
}

/** A provider's stream as the client gets it. `cut`: the provider breaks off at its end. */
export function translateStream(
  from: FormatName,
  to: FormatName,
  text: string,
  context: WriteContext,
  cut = false,
): string {
  return translateEvents(from, to, readSse(text), context, cut).join('')
}

/** By event of the provider what goes to the client, and at last what ends the stream. */
export function translateEvents(
  from: FormatName,
  to: FormatName,
  events: readonly SentEvent[],
  context: WriteContext,
  cut = false,
): string[] {
  const usage = new UsageSoFar(to)
  const [provider, client] = [codecOf(to), codecOf(from)]
  const reader = provider.openReader()
  const writer = client.openWriter({ ...context, usage: () => usage.read() })
  const written: string[] = []
  for (const { name, data } of events) {
    if (data === null) continue
    const error = asObject(data.error)
    if (name === 'error' || error !== null) return [...written, writer.error(provider.readError(500, data))]
    usage.take(data)
    written.push(writer.events(reader.event(name, data)))
  }
  if (cut) {
    const message = 'The provider broke off.'
    return [...written, writer.error({ status: 502, kind: 'internal', message, param: null })]
  }
  return [...written, writer.events(reader.end()), writer.end()]
}

/** As the readers of the lanes keep it. */
export class UsageSoFar {
  readonly #format: FormatName
  readonly #messages = new MessageUsage()
  #usage: ReplyUsage | null = null
  #tier: unknown = null

  constructor(format: FormatName) {
    this.#format = format
  }

  take(data: JsonObject): void {
    if (this.#format === 'messages') {
      this.#messages.take(asObject(data.message)?.usage)
      this.#messages.take(data.usage)
      return
    }
    if (this.#format === 'generate') {
      const tokens = readGenerateUsage(data.usageMetadata)
      if (tokens !== null) this.#usage = { tokens, detail: readGenerateDetail(data.usageMetadata) }
      return
    }
    const { usage, service_tier } = asObject(data.response) ?? data
    this.#tier = service_tier ?? this.#tier
    const tokens = this.#format === 'chat' ? readChatUsage(usage) : readResponsesUsage(usage)
    if (tokens !== null) this.#usage = { tokens, detail: readUsageDetail(usage, this.#tier) }
  }

  read(): ReplyUsage | null {
    const tokens = this.#messages.read()
    return tokens === null ? this.#usage : { tokens, detail: this.#messages.detail() }
  }
}
