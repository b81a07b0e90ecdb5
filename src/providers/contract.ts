import type { Readable } from 'node:stream'
import type { FormatName } from '../core/format.ts'
import type { LaneName } from '../core/lane.ts'
import type { UsageConvention } from '../core/record.ts'
import type { Secret } from '../core/secrets/secret.ts'
import type { Preset } from './presets.ts'

/**
 * A provider kind. Everything that the gateway knows about it is in the kind's one file: the admin contract, the console's forms,
 * `spgw import` and the reference pages derive from it. Differences between vendors of one kind are rows in `presets.ts`.
 */
export interface ProviderKind {
  kind: string
  title: string
  /** One line for forms: what one gets with it. */
  description: string
  /** The lanes whose calls the provider takes as they are. */
  lanes: readonly LaneName[]
  /**
   * In order of preference, those in which it can be asked for a model; a function where settings or the model's name decide. Constant
   * lists: this is asked for each call.
   */
  formats: readonly FormatName[] | ((settings: ProviderSettings, model: string) => readonly FormatName[])
  /** Which of them is best for a model where it is not the first; null: the first. Asked for translated calls only. */
  preferredFormat?(settings: ProviderSettings, model: string): FormatName | null
  /** The only operations of those lanes that it has; absent: all. */
  serves?: readonly string[]
  /** Whether a provider with these settings has no such operation, although its kind may have it. */
  isUnsupported?(settings: ProviderSettings, operation: string): boolean
  /** As it is shown, with settings in braces (`https://{region}.example`); '' where the operator must give one. */
  defaultBaseUrl: string
  /** The base URL that follows from the settings; '' where they do not determine it. Absent: `defaultBaseUrl`. */
  baseUrlFor?(settings: ProviderSettings): string
  credential: 'required' | 'optional' | 'none'
  /** False: an API key is no credential, only JSON is. */
  apiKey?: false
  /** Credentials in JSON form; absent: the kind has none. */
  jsonCredentials?: readonly JsonCredential[]
  /** The kind's own settings by name, as data: data-plane threads do not load the schemas that check them. */
  settings: Readonly<Record<string, KindSetting>>
  /** Known vendors and servers of the kind: values of its setting `preset`. */
  presets?: readonly Preset[]
  /** How configuration files of other gateways name the kind. Absent: `spgw import` does not know it. */
  imports?: ImportNames
  /** Where a call goes. `path` is what the lane's `upstreamPath` gave, query included. Source: contract.md rule 1. */
  address(provider: ProviderTarget, lane: LaneName, path: string): { origin: string; path: string }
  /** Headers that authenticate and identify; they replace any of the same name from the client. */
  headers(provider: ProviderTarget, lane: LaneName, credential: Secret | null): [string, string][]
  /** Headers that are sent only when the client sent none of that name. */
  defaults?: readonly (readonly [string, string])[]
  /** What an answer's status, headers and error mean, for a provider with these settings. Source: contract.md rule 3. */
  classify(head: AnswerHead, error: ProviderError, settings: ProviderSettings): Meaning
  /** Removes account, project and organisation ids from an error body; the same buffer when there are none. */
  scrub(body: Buffer): Buffer
  /** The free request that proves address and credential, and lists models. Null: there is nothing to check (demo). */
  check: CheckPlan | null
  /** Its models, where there is no list to ask for (demo). */
  fixedModels?: readonly ListedProviderModel[]
  /** Answers in the process instead of over the network (demo). */
  transport: Transport | null
  /**
   * For kinds whose calls need more than an address and headers: a token, a signature, another body, another framing of the
   * answer. Returns the transport for this one call, and reports each change of the request to `call.recordChange`.
   */
  wrapTransport?(transport: Transport, call: CallContext): Transport
  /** Body features that the vendor rejects (`stream_options`), from its preset. */
  unsupported(provider: ProviderTarget): readonly 'stream_options'[]
  /** The member that all of its servers take for the limit of an answer, where some do not know the newer one. */
  outputLimit?: 'max_tokens'
  /** Whether the vendor's models want their unsigned reasoning back, from its preset. Absent: none does. */
  wantsReasoning?(settings: ProviderSettings): boolean
  /** Whether the vendor takes Anthropic's cache marks, from its preset. Absent: it does not. */
  takesCacheMarks?(settings: ProviderSettings): boolean
  /** Whether the vendor takes a budget for reasoning (OpenRouter's `reasoning`), from its preset. Absent: it does not. */
  takesReasoningBudget?(settings: ProviderSettings): boolean
  /** Whether the vendor gives probabilities of tokens, from its preset or a setting. Absent: as its format says. */
  givesLogprobs?(settings: ProviderSettings): boolean
  /** What the vendor's usage leaves out, from its preset. Absent: nothing. */
  usageConvention?(provider: ProviderTarget): UsageConvention
}

export type ProviderSettings = Readonly<Record<string, unknown>>

export interface JsonCredential {
  /** `service account key` */
  title: string
  /** Members that must be there, all strings. */
  members: readonly string[]
  /** The value of its member `type`, where that tells it from another. */
  type?: string
  /** What else is wrong with it, in a sentence; null: nothing. */
  validate?(document: ProviderSettings): string | null
}

/** What `spgw import` needs to recognise a provider of the kind in the files of LiteLLM and Portkey. */
export interface ImportNames {
  /** The vendor names that they use for it. */
  names: readonly string[]
  /** The environment variable in which they look for the API key when the file names none. */
  keyVariable?: string
  /** Names of models that belong to the vendor even where a file does not name it. */
  models?: RegExp
  /** Where the kind serves the models of some vendors only: their names, and whose they are. */
  serves?: { models: RegExp; vendors: string }
  /** The kind stands for any server of its format, so that the file must say where it is. */
  needsAddress?: true
}

/** One call as its kind may want to know it. */
export interface CallContext {
  provider: ProviderTarget
  lane: LaneName
  /** The operation's name (`messages`), or `check`. */
  operation: string
  /** The provider's name for the model; '' when the call names none. */
  model: string
  streamed: boolean
  credential: Secret | null
  /** Puts a sentence about a change of the request on the request record. */
  recordChange(text: string): void
}

/** An optional text, or a switch. */
export interface KindSetting {
  description: string
  type?: 'boolean'
  required?: true
  /** The only values that it takes; absent: any text that is not empty. */
  choices?: readonly string[]
}

export interface ProviderTarget {
  name: string
  baseUrl: string
  settings: Record<string, string | number | boolean>
}

export interface AnswerHead {
  status: number
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>
}

/** What an error says, whichever of the three formats it has. Source: wire/errors.md. */
export interface ProviderError {
  type: string
  code: string
  message: string
  /** `ErrorInfo.reason` (Gemini). */
  reason: string
  /** `RetryInfo.retryDelay` (Gemini), milliseconds. */
  retryAfterMs: number | null
}

export type Meaning =
  | { verdict: 'answer' }
  /** Worth another attempt, here or at another target; `retryAfterMs` as the provider asked. */
  | { verdict: 'retry'; retryAfterMs: number | null }
  /** The provider rejects the stored credential. */
  | { verdict: 'credential-rejected' }
  /** A 403 that may be about the credential: it goes to the client, and starts the free check. */
  | { verdict: 'credential-doubtful' }
  | { verdict: 'quota-exhausted' }
  /** The caller's own mistake: goes to the client byte for byte. */
  | { verdict: 'caller' }

export interface CheckPlan {
  method: 'GET' | 'POST'
  /** Below the base URL. */
  path: string
  /** Whether a wrong credential fails it; absent: it does. */
  provesCredential?(settings: ProviderSettings): boolean
  read(status: number, body: Buffer, provider: ProviderTarget): CheckResult
  /** The base URL that the operator probably meant (version segment added or removed); null: no guess. */
  otherSpelling(baseUrl: string): string | null
}

export interface CheckResult {
  ok: boolean
  /** `credential_rejected`, `unreachable`, `wrong_url`, `unexpected`; null when ok. */
  reason: string | null
  /** For the operator: what was found and what to do. */
  message: string
  models: ListedProviderModel[]
}

export interface ListedProviderModel {
  name: string
  contextTokens: number | null
  outputTokens: number | null
}

/** One outbound call. `connectMs` bounds the time to a usable connection; all other limits belong to the caller. */
export interface OutboundRequest {
  method: string
  origin: string
  path: string
  /** Name, value, name, value, … */
  headers: string[]
  /** A stream is sent as it comes, chunked unless `headers` have a `content-length`; it is destroyed when nobody reads on. */
  body: Buffer | Readable | null
  /** Whose memory `body` is; null or absent: the garbage collector's. */
  borrowed?: BorrowedBody | null
  connectMs: number
  /** null or absent: the defaults. */
  egress?: EgressOptions | null
}

/** A body in memory that is used for other bodies later. */
export interface BorrowedBody {
  /**
   * The body is read from now on. Call what it returns when all of it is with the operating system, or its connection is closed;
   * calling it again has no effect. Whoever never calls it only keeps the memory from being used again.
   */
  borrow(): () => void
}

/** How one provider configuration reaches the network, where that differs from the defaults. */
export interface EgressOptions {
  /** Identifies the options among others; holds secrets. */
  key: string
  /** URL of a proxy, or `direct`; null: what the environment says. */
  proxy: string | null
  /** Certificate authorities that are trusted besides the system's, PEM. */
  authorities: string | null
  identity: ClientIdentity | null
  /** The provider's host name may resolve to a private address. */
  allowPrivate: boolean
  /** The connection goes to the metadata service of the machine's cloud, and nowhere else. */
  metadata?: true
}

/** A client certificate with its key, both PEM. */
export interface ClientIdentity {
  certificate: string
  key: string
}

/** Data may still come after `pause()` when the provider has already ended its side. */
export interface ResponseSink {
  /** The connection is open and the request is being written. The only method that may be called before `send` returns. */
  onConnected(): void
  /** `headers`: name, value, name, value, … as received, names in lower case. */
  onHead(status: number, headers: string[]): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** Called at most once, and nothing after it. Not called after `abort()`. */
  onError(fault: TransportFault): void
}

export interface TransportFault {
  /**
   * `refused`: the gateway does not connect to that address. `proxy`: the proxy on the way is not reached, or opens no connection.
   * `client-certificate`: the provider wants one, or another. `denied`: nothing was sent, since the client may not ask for it.
   */
  kind:
    | 'connect-timeout'
    | 'unreachable'
    | 'proxy'
    | 'refused'
    | 'tls'
    | 'client-certificate'
    | 'reset'
    | 'protocol'
    | 'exhausted'
    | 'denied'
  /** What happened, in a sentence without credentials; safe for records. */
  message: string
}

/** A call in progress. All methods may be called at any time, and more than once. */
export interface Sending {
  abort(): void
  pause(): void
  resume(): void
}

export interface Transport {
  send(request: OutboundRequest, sink: ResponseSink): Sending
}
