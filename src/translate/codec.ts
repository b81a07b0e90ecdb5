import type { Fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import type { JsonObject } from '../core/json/json-value.ts'
import type { Conversation, Opaque } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import type { Pausing } from './pausing.ts'
import type { ModelReply, ReplyError, ReplyEvent, ReplyUsage } from './reply.ts'

/**
 * One format, read into and written from the common model of conversations, for requests and answers. Everything here is pure: no clock, no
 * random numbers, no I/O; the same input gives the same bytes.
 */
export interface Codec {
  format: FormatName
  /** Reads a client's request. A fault is `invalid_request` with `param`, for what no provider of the format would accept either. */
  readRequest(body: JsonObject, context: ReadContext): Conversation | Fault
  /**
   * Writes the request for a provider of this format. What it cannot carry goes to the ledger; a fault is `not_translatable` with `param`.
   */
  writeRequest(conversation: Conversation, target: TranslationTarget, ledger: Ledger): JsonObject | Fault
  /** Reads a provider's whole answer. A fault is `provider_bad_response`. */
  readReply(body: JsonObject): ModelReply | Fault
  /** Writes the answer in the client's format. */
  writeReply(reply: ModelReply, context: WriteContext): JsonObject
  /** A reader for one streamed answer of a provider. */
  openReader(): ReplyReader
  /** A writer for one streamed answer to a client. */
  openWriter(context: WriteContext): ReplyWriter
  /** Reads a provider's error body; `body` null: it is not JSON. */
  readError(status: number, body: JsonObject | null): ReplyError
  /** Writes an error in the client's format: status and body (wire/errors.md section 4). */
  writeError(error: ReplyError, requestId: string): { status: number; body: JsonObject }
  /** Absent: the format's providers do not pause in the middle of an answer. */
  pausing?: Pausing
}

/** What a reader of requests needs besides the body. */
export interface ReadContext {
  /** Set in the URL rather than the body (Gemini). */
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
  /** The most that a policy allows; null: no policy limits it. */
  outputCap: number | null
  /** A server with OpenAI's API other than OpenAI's own: it may not know newer members. */
  compatible: boolean
  /** Whether it returns token probabilities, if its format has them. */
  logprobs: boolean
  /** Whether the vendor knows `stream_options`. */
  streamOptions: boolean
  /** Generate: Google Cloud, whose web search can exclude domains. */
  vertex?: boolean
  /** Messages: Amazon's, where several of Claude's newer models refuse to hold calls to their schemas. */
  bedrock?: boolean
  /** Chat: the vendor's models want what they thought in earlier turns back, as `reasoning_content`. */
  reasoningContent?: boolean
  /** Chat: the vendor takes Anthropic's cache marks for its models (`cache_control`). */
  cacheControl?: boolean
  /** Chat: the vendor takes a budget for reasoning, as OpenRouter does (`reasoning.max_tokens`). */
  reasoningBudget?: boolean
}

/** Carries opaque reasoning through formats, as texts that only this gateway can read. */
export interface Carriers {
  /** null: it is too long to be carried. */
  seal(opaque: Opaque): string | null
  /** null: not this gateway's, changed, expired, or of another project. */
  open(text: string): Opaque | null
}

/** What a writer of answers needs to know. */
export interface WriteContext {
  /** The gateway's request id. Ids in answers are derived from it and the provider's. */
  requestId: string
  /** When the request arrived, in whole seconds since the epoch. */
  created: number
  conversation: Conversation
  /** The request's estimated prompt tokens, for formats that state them at the beginning of a stream. */
  estimatedInput: number
  /** The usage known so far; null: the provider has reported none. */
  usage(): ReplyUsage | null
  /** Whether visible reasoning goes to chat clients as `reasoning_content`. */
  reasoningText: boolean
  /** Responses: the gateway keeps the answer for the client to refer to. Left out: it does not. */
  kept?: KeptState
  carriers: Carriers
}

/** For an answer that is kept. */
export interface KeptState {
  /** The response that the request continued. */
  previous: string | null
  /** Keeps the whole response before the client gets it. False: it could not be kept. */
  take(response: JsonObject): boolean
}

/** Reads a provider's stream. */
export interface ReplyReader {
  /** One event of the stream: its SSE name ('' if there is none) and its parsed data. */
  event(name: string, data: JsonObject): readonly ReplyEvent[]
  /** The provider ended the stream: returns what remains to be said. */
  end(): readonly ReplyEvent[]
}

/** Writes a stream to a client, valid for its SDKs whatever the provider sends. It writes nothing before the first content. */
export interface ReplyWriter {
  /** The bytes to send now; '' for nothing. */
  events(events: readonly ReplyEvent[]): string
  /**
   * Called after the last event, once, and not after an error: closes what is open and ends the stream as the format requires (usage
   * included).
   */
  end(): string
  /** The event that ends an open stream with an error, at any point. */
  error(error: ReplyError): string
}
