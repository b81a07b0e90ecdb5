import type { TokenUsage, UsageDetail } from '../core/record.ts'
import type { CallPart, Citation, Opaque, ReasoningPart, RefusalPart, TextPart, TokenLogprob } from './conversation.ts'

/** A whole answer, whatever its format. */
export interface ModelReply {
  /** The provider's id for it; '' if there is none. */
  id: string
  /** As the provider reports it. */
  model: string
  parts: readonly (TextPart | RefusalPart | ReasoningPart | CallPart | MadeImage)[]
  stop: Stop
  /** Seconds since the epoch; null if the format has no such member. */
  created: number | null
  /** Members and blocks of the answer that no event or part carries, as names for the record's losses. */
  dropped: readonly string[]
}

/** An image that the model made, which comes whole. Clients other than those of Responses have no place for it. */
export interface MadeImage {
  kind: 'image'
  path: string
  /** `image/png` */
  type: string
  /** Base64. */
  data: string
  opaque?: Opaque
}

export interface Stop {
  reason: StopReason
  /** The stop sequence that was matched. */
  sequence: string | null
  /** The provider's explanation, for clients whose format has a place for it. */
  explanation: string | null
}

/**
 * `filtered`: by a safety system. `refused`: by the model itself. `paused`: a hosted tool's loop must be continued. `broken`: the model
 * made an unreadable call, which is never passed on.
 */
export type StopReason =
  | 'done'
  | 'sequence'
  | 'length'
  | 'context'
  | 'calls'
  | 'filtered'
  | 'refused'
  | 'paused'
  | 'broken'

/**
 * A streamed answer, whatever its format. `part` numbers the parts of the answer from 0 in the order in which they begin. Events of several
 * parts may be interleaved (chat's parallel calls); a writer whose format has its parts one after another holds events back.
 */
export type ReplyEvent =
  | { kind: 'start'; id: string; model: string }
  /** With probabilities the text may be '': a token can be a part of a character. */
  | { kind: 'text'; part: number; text: string; logprobs?: readonly TokenLogprob[] }
  | { kind: 'refusal'; part: number; text: string }
  | { kind: 'reasoning'; part: number; text: string }
  /** For a reasoning part, a call or a text that has begun, or a part of its own (redacted thinking). */
  | { kind: 'opaque'; part: number; opaque: Opaque }
  | { kind: 'call'; part: number; id: string | null; name: string; custom: boolean }
  /** A piece of the call's JSON text, or of a custom tool's input. */
  | { kind: 'arguments'; part: number; text: string }
  | ({ part: number } & Omit<MadeImage, 'path'>)
  | { kind: 'citation'; part: number; citation: Citation }
  /** The part has ended. */
  | { kind: 'part-end'; part: number }
  | { kind: 'stop'; stop: Stop }
  /** Only keeps the connection alive. */
  | { kind: 'ping' }
  | { kind: 'dropped'; name: string }

/** The usage of an answer, as reported by the provider or estimated by the gateway. */
export interface ReplyUsage {
  tokens: TokenUsage
  detail: UsageDetail | null
}

/** A provider's error, whatever its format. */
export interface ReplyError {
  status: number
  /** The kind of error; each format has a type for it. */
  kind: ErrorKind
  /** The provider's own words, without account ids. */
  message: string
  /** The field at fault, as the provider names it; null: it names none. */
  param: string | null
  /** How long the provider asks to wait, for formats whose errors state that in the body. */
  retryAfterMs?: number
}

export type ErrorKind =
  | 'invalid'
  | 'context-length'
  | 'content-filter'
  | 'permission'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'rate-limit'
  | 'overloaded'
  | 'timeout'
  | 'internal'

/** The kind for a status, if neither a type nor a code says more. A 401 or 402 concerns the gateway's own account, and is not listed. */
export const kindsOfStatuses: Readonly<Record<number, ErrorKind>> = {
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  409: 'conflict',
  413: 'too-large',
  429: 'rate-limit',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
}
