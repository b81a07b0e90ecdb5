import type { FormField } from '../core/bytes/form-scan.ts'
import type { StreamEvent } from '../core/bytes/stream-event.ts'
import type { ErrorOrigin, RecordErrorCode } from '../core/errors.ts'
import type { Span } from '../core/json/json-scan.ts'
import type { JsonObject } from '../core/json/json-value.ts'
import type { ObjectName } from '../core/objects/stored-object.ts'
import type { TokenUsage, UsageDetail } from '../core/record.ts'
import type { EndedWork } from './earlier-work.ts'

export type Framing = 'sse' | 'json-array'

/** A request as it was sent up, as far as it is still in memory. */
export interface RequestContent {
  /** Empty if it was streamed up. */
  body: Buffer
  /** The fields of a form. */
  fields: readonly FormField[]
  /** The beginning of a body that was streamed up. */
  head: Buffer
  bytes: number
}

/**
 * Reads one answer while it is forwarded. It never changes bytes, except that `pass` may return less than it was given
 * where the gateway asked for usage that the client did not ask for (product.md section 2, item 2).
 */
export interface AnswerReader {
  /** Reads one stream event, in the framer's order. Events after a terminal one are allowed. */
  event(event: StreamEvent): EventReading
  /** Reads a whole JSON answer. */
  body(bytes: Buffer): BodyReading
  /** Reads the last bytes of a whole answer that was too large for `body`, for the usage in them. */
  tail(bytes: Buffer): void
  /** The stream ends here: null when it ended as the protocol requires, else what is missing. */
  end(): string | null
  /** The usage seen so far; null when the provider reported none. */
  usage(): TokenUsage | null
  /** What the usage says beyond token counts, and the tier that the answer states; null: nothing. */
  usageDetail(): UsageDetail | null
  /** What `usage` leaves out: of other models that worked for the same answer, each call by itself. Absent: no such answer has any. */
  beside?(): readonly TurnUsage[]
  /** Its vendor charges nothing for it, whatever it reports. Absent: every answer is charged. */
  isFree?(): boolean
  seen(): AnswerFacts
  /**
   * Whether an answer that ends without usage may be estimated by its content events: they are text, about a token
   * each, and no later call reports their usage.
   */
  readonly estimable: boolean
}

export interface AnswerFacts {
  /** The model and the answer's id, as the answer shows them; null until they are seen. */
  model: string | null
  responseId: string | null
  /** Events that carried data. */
  events: number
  /** The last event's number (responses only). */
  sequenceNumber: number | null
  /** How the stream is framed; null for whole answers. */
  framing: Framing | null
  /** Part of an event that is too large to hold has been sent, and its end has not arrived. */
  insideEvent: boolean
  /**
   * Objects that the provider created besides the answer itself and that a client may name later (a tool's files);
   * nearly always none.
   */
  objects: readonly ObjectName[]
  /** For a stored answer that is shown again: the usage that the provider reports for it. `usage()` is null then. */
  shown: EndedWork['sums'] | null
  /**
   * The run that `usage()`, or an estimate, is for. Showing the end of this run again counts nothing. Left out where
   * there is none.
   */
  counted?: string
  /** The run that this stream has left unfinished: it waits for its tools. Left out where there is none. */
  unfinished?: string
}

export interface EventReading {
  /**
   * Whether the event has content: the first content in the sense of contract.md rule 10, later about a token's worth
   * (judged by the event's kind, not read).
   */
  content: boolean
  /**
   * The settled entry must be journaled before this event is sent. Where nothing can follow, it is sent at once then.
   * Gemini has no end mark: hold a terminal event until an event with data follows (then release it and evaluate the
   * new one) or the provider ends the stream. An event without data (the closing bracket) is held with it.
   */
  terminal: boolean
  /** The provider's own error event. */
  error: StreamedError | null
  /**
   * The bytes to forward: `event.bytes` unchanged, a shortened copy, or null for nothing (hidden usage, half an event
   * at a broken end).
   */
  pass: Buffer | null
}

export interface StreamedError {
  code: RecordErrorCode
  origin: ErrorOrigin
  /**
   * The status that this error would have had before the stream began, so that it is classified the same way; null when
   * the event does not say.
   */
  status: number | null
  /** The provider's own message, shortened. */
  message: string
  /** The error as the provider wrote it, to be classified like the `error` of a whole answer. */
  written: JsonObject
}

export interface BodyReading {
  /** Null: the answer is well formed; else why it is `provider_bad_response`. */
  wrong: string | null
}

export interface SocketReader {
  frame(frame: Buffer): SocketReading
  /**
   * About how many tokens a client's frame adds to the next turn, if the provider decides when that begins. Absent: the client's frames ask
   * for each turn.
   */
  inputOf?(frame: Buffer): number
  /** The usage of a turn that this frame reports. Each turn is priced by itself, since its length decides the rates. */
  readonly turn: TurnUsage | null
  /** Whether a turn begins or ends with this frame. */
  readonly step: 'begins' | 'ends' | null
  /** About how many tokens of an answer this frame contains. */
  readonly written: number
  /** How many of them are sound. */
  readonly sounded: number
  /** What this frame reports of a model beside the one that answers. */
  readonly beside: TurnUsage | null
  /** Whether an answer is in progress, as far as the frames show. */
  busy(): boolean
}

export interface TurnUsage {
  tokens: TokenUsage | null
  detail: UsageDetail | null
  /** The model that says it has used it. Absent: none does. */
  model?: string
}

export interface SocketReading {
  /** Objects that the provider keeps from now on. */
  created: readonly ObjectName[]
  /** Objects that this connection may name from now on, kept or not. */
  seen: readonly ObjectName[]
  error: StreamedError | null
}

/** Reasoning that only the account that made it can read, and how to find it. */
export interface SignedReasoning {
  /** A text in the body of nearly every call whose answer may contain any; '': there is no such text. */
  hint: string
  /** The members, of bodies and answers, that hold a signature. */
  names: readonly string[]
}

export interface IssuedCredentials {
  /** Every string in the answer that is such a credential. */
  secrets: string[]
  /** Epoch milliseconds; null: the answer does not say. */
  expiresAt: number | null
}

export interface NamedModel {
  name: string
  /** The spans of its values, including quotes. `mayAnswer`: the provider may answer with it in place of `model`. */
  spans: Span[]
  mayAnswer?: true
}
