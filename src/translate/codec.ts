import type { Fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import type { JsonObject } from '../core/json-value.ts'
import type { Conversation, Opaque } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import type { Pausing } from './pausing.ts'
import type { ModelReply, ReplyError, ReplyEvent, ReplyUsage } from './reply.ts'

/**
 * One format: how it is read into the model of conversations and written from it, on both sides. Everything here is pure: no clock, no
 * random numbers, no I/O; the same input gives the same bytes.
 */
export interface Codec {
  format: FormatName
  /** A client's request. A fault is `invalid_request` with `param`, for what no provider of the format would accept either. */
  readRequest(body: JsonObject, context: ReadContext): Conversation | Fault
  /**
   * The request for a provider of this format. What it cannot carry goes to the ledger; a fault is `not_translatable` with `param`.
   */
  writeRequest(conversation: Conversation, target: TranslationTarget, ledger: Ledger): JsonObject | Fault
  /** A provider's whole answer. A fault is `provider_bad_response`. */
  readReply(body: JsonObject): ModelReply | Fault
  /** The answer in the client's format. */
  writeReply(reply: ModelReply, context: WriteContext): JsonObject
  /** For one streamed answer of a provider. */
  openReader(): ReplyReader
  /** For one streamed answer to a client. */
  openWriter(context: WriteContext): ReplyWriter
  /** A provider's error body; `body` null: it is not JSON. */
  readError(status: number, body: JsonObject | null): ReplyError
  /** In the client's format: status and body (wire/errors.md section 4). */
  writeError(error: ReplyError, requestId: string): { status: number; body: JsonObject }
  /** Absent: its providers do not pause in the midst of an answer. */
  pausing?: Pausing
}

/** What a reader of requests needs besides the body. */
export interface ReadContext {
  /** What the URL says and the body does not (Gemini). */
  streamed: boolean
  carriers: Carriers
}

/** The provider that a request is written for. */
export interface TranslationTarget {
  format: FormatName
  /** The provider's name for the model. */
  model: string
  streamed: boolean
  /** The model's largest answer in tokens; null: not known. */
  maxOutput: number | null
  /** The most that a policy allows; null: it says nothing. */
  outputCap: number | null
  /** A server with OpenAI's API that is not OpenAI's own: it may not know newer members. */
  compatible: boolean
  /** Whether it gives probabilities of tokens, as far as its format does. */
  logprobs: boolean
  /** Whether the vendor knows `stream_options`. */
  streamOptions: boolean
  /** Generate: Google's cloud, whose web search can leave domains out. */
  vertex?: boolean
  /** Messages: Amazon's, where several of Claude's newer models refuse to hold calls to their schemas. */
  bedrock?: boolean
  /** Chat: the vendor's models want what they thought in earlier turns back, as `reasoning_content`. */
  reasoningContent?: boolean
}

/** Carries opaque reasoning through formats that have a place for text only this gateway must understand. */
export interface Carriers {
  /** null: it cannot be carried (it would be too long). */
  seal(opaque: Opaque): string | null
  /** null: foreign, tampered, expired, or another project's. */
  open(text: string): Opaque | null
}

/** What a writer of answers needs to know. */
export interface WriteContext {
  /** The gateway's request id; ids in answers are derived from it and from the provider's. */
  requestId: string
  /** Whole seconds since the epoch at which the request came. */
  created: number
  conversation: Conversation
  /** The request's estimated prompt, for formats that state it at the beginning of a stream. */
  estimatedInput: number
  /** As far as it is known at the moment; null: the provider has reported none. */
  usage(): ReplyUsage | null
  /** Whether visible reasoning goes to chat clients as `reasoning_content`. */
  reasoningText: boolean
  /** Responses: the gateway keeps the answer for the client to refer to. Left out: nobody does. */
  kept?: KeptState
  carriers: Carriers
}

/** Of an answer that is kept. */
export interface KeptState {
  /** The response that the request went on from. */
  previous: string | null
  /** The whole response, before the client gets it. False: it is not kept after all. */
  take(response: JsonObject): boolean
}

/** Reads a provider's stream. */
export interface ReplyReader {
  /** One event of the stream: its SSE name ('' where there is none) and its parsed data. */
  event(name: string, data: JsonObject): readonly ReplyEvent[]
  /** The provider ended the stream: what is still to be said. */
  end(): readonly ReplyEvent[]
}

/** Writes a stream to a client, valid for its SDKs whatever comes. It writes nothing before the first content. */
export interface ReplyWriter {
  /** The bytes to send now; '' for nothing. */
  events(events: readonly ReplyEvent[]): string
  /**
   * After the last event: closes what is open and ends the stream as the format does (usage included). Only called once, and not
   * after an error.
   */
  end(): string
  /** The event that ends an open stream with an error, in the midst of whatever has been written. */
  error(error: ReplyError): string
}
