import type { Readable } from 'node:stream'
import type { LaneName } from '../core/lane.ts'
import type { Secret } from '../core/secret.ts'

/** What a provider kind must say. One file a kind; what differs between vendors of one kind is a preset row. */
export interface ProviderKind {
  kind: string
  title: string
  /** Lanes whose format it speaks natively. */
  speaks: readonly LaneName[]
  /** The only operations of those lanes that it has; absent: all. */
  serves?: readonly string[]
  /** As it is shown, with settings in braces (`https://{region}.example`); '' where the operator must give one. */
  defaultBaseUrl: string
  /** The base URL where the operator gives none, if it follows from the settings; '' where they do not say it. Absent: `defaultBaseUrl`. */
  usualBaseUrl?(settings: Readonly<Record<string, unknown>>): string
  credential: 'required' | 'optional' | 'none'
  /** Credentials that are a JSON document instead of one word; absent: there are none. */
  documents?: readonly CredentialDocument[]
  /** False: only a document is a credential. */
  word?: false
  /** The kind's own settings by name, as data: the schema that checks them is no business of a data-plane thread. */
  settings: Readonly<Record<string, KindSetting>>
  /** Where a call goes. `path` is what the lane's `upstreamPath` gave, query included. Source: contract.md rule 1. */
  address(provider: ProviderTarget, lane: LaneName, path: string): { origin: string; path: string }
  /** Headers that authenticate and identify; they replace any of the same name from the client. */
  headers(provider: ProviderTarget, lane: LaneName, credential: Secret | null): [string, string][]
  /** Headers sent only where the client sent none of that name. */
  defaults?: readonly (readonly [string, string])[]
  /** What a status (and, for errors, the body's first 64 KiB) means. Source: contract.md rule 3. */
  classify(lane: LaneName, answer: AnswerHead, body: Buffer): Meaning
  /** Removes account, project and organisation ids from an error body; the same buffer when there are none. */
  scrub(body: Buffer): Buffer
  /** The free request that proves address and credential, and lists models. Null: nothing to check (demo). */
  check: CheckPlan | null
  /** What it can serve, where there is no list to ask for (demo). */
  fixedModels?: readonly ListedProviderModel[]
  /** Answers in the process instead of over the network (demo). */
  transport: Transport | null
  /**
   * For kinds whose calls need more than an address and headers: a token, a signature, another body, another framing of the
   * answer. Gives the transport that this one call goes through; what it does to the request it says to `note`. Absent:
   * nothing stands between.
   */
  through?(transport: Transport, call: CallContext): Transport
  /** Body features that a vendor does not know (`stream_options`), from its preset. */
  lacks(provider: ProviderTarget): readonly 'stream_options'[]
}

export interface CredentialDocument {
  /** What it is, in words: `service account key`. */
  title: string
  /** Its members, all texts, that must be there. */
  members: readonly string[]
  /** What its member `type` says, where that tells it from another. */
  type?: string
  /** What is wrong with it besides, in a sentence; null: nothing. */
  judge?(document: Readonly<Record<string, unknown>>): string | null
}

/** One call as its kind may want to know it. */
export interface CallContext {
  provider: ProviderTarget
  lane: LaneName
  /** The endpoint's word (`messages`), or `check`. */
  operation: string
  /** The provider's name for the model; '' where the call names none. */
  model: string
  streamed: boolean
  credential: Secret | null
  /** A sentence for the record about what was changed. */
  note(text: string): void
}

/** A text that may be left out, or a switch. */
export interface KindSetting {
  description: string
  type?: 'boolean'
  /** It may not be left out. */
  required?: true
  /** The only values that it takes; absent: any text but the empty one. */
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

export type Meaning =
  | { verdict: 'answer' }
  /** Worth another attempt here or elsewhere; `retryAfterMs` as the provider asked. */
  | { verdict: 'retry'; retryAfterMs: number | null }
  /** The stored credential is refused. */
  | { verdict: 'credential-rejected' }
  /** 403 outside an object's own endpoint: passes, and starts the free check. */
  | { verdict: 'credential-doubtful' }
  | { verdict: 'quota-exhausted' }
  /** The caller's own mistake: passes byte for byte. */
  | { verdict: 'caller' }

export interface CheckPlan {
  method: 'GET' | 'POST'
  /** Below the base URL. */
  path: string
  read(status: number, body: Buffer, provider: ProviderTarget): CheckResult
  /** The base URL as it was probably meant (version segment added or taken away); null when there is nothing to guess. */
  otherSpelling(baseUrl: string): string | null
}

export interface CheckResult {
  ok: boolean
  /** `credential_rejected`, `unreachable`, `wrong_url`, `unexpected`; null when ok. */
  reason: string | null
  /** A sentence for the operator: what was found and what to do. */
  message: string
  models: ListedProviderModel[]
}

export interface ListedProviderModel {
  name: string
  contextTokens: number | null
  outputTokens: number | null
}

/** One call out. `connectMs` bounds the time to a usable connection; all other limits belong to the caller. */
export interface OutboundRequest {
  method: string
  origin: string
  path: string
  /** Name, value, name, value, … */
  headers: string[]
  /** A stream goes up as it comes, in chunks unless `headers` say `content-length`; it is destroyed when nobody takes any more of it. */
  body: Buffer | Readable | null
  /** Whose memory `body` is; null or absent: the garbage collector's. */
  lent?: LentBody | null
  connectMs: number
  /** null or absent: the usual way. */
  way?: WayOut | null
}

/** Memory that serves again. */
export interface LentBody {
  /** The body is read from now on; whoever never says `sent` keeps the memory from being used again. */
  lend(): void
  /** All of it is with the operating system, or its connection is closed: it is not read any more. */
  sent(): void
}

/** How the network is reached for one provider configuration, where that differs from the usual. */
export interface WayOut {
  /** Tells ways apart; holds secrets. */
  key: string
  /** URL of a proxy, or `direct`; null: as the environment says. */
  proxy: string | null
  /** Authorities that are believed besides the system's, PEM. */
  authorities: string | null
  identity: ClientIdentity | null
  /** The provider's name may lead to a private address. */
  allowPrivate: boolean
  /** It leads to the metadata service of the machine's cloud, and nowhere else. */
  metadata?: true
}

/** A client certificate with its key, both PEM. */
export interface ClientIdentity {
  certificate: string
  key: string
}

/** Data may still come after `pause()` when the provider has already ended its side. */
export interface ResponseSink {
  /** The connection stands and the request is being written. May be called before `send` returns; nothing else is. */
  onConnected(): void
  /** `headers`: name, value, name, value, … as received, names in lower case. */
  onHead(status: number, headers: string[]): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** Called at most once, and nothing after it. Not called after `abort()`. */
  onError(fault: TransportFault): void
}

export interface TransportFault {
  /** `refused`: nobody was asked, since no connection may lead there. `client-certificate`: it wants one, or another. */
  kind: 'connect-timeout' | 'unreachable' | 'refused' | 'tls' | 'client-certificate' | 'reset' | 'protocol'
  /** A sentence: what happened, without host credentials; safe for records. */
  message: string
}

/** A call under way. All methods may be called at any time, also twice. */
export interface Sending {
  abort(): void
  pause(): void
  resume(): void
}

export interface Transport {
  send(request: OutboundRequest, sink: ResponseSink): Sending
}
