import type { ErrorOrigin, Fault, RecordErrorCode } from '../core/errors.ts'
import type { FormField } from '../core/form-scan.ts'
import type { BackgroundWork } from '../core/journal-format.ts'
import type { Span } from '../core/json-scan.ts'
import type { LaneName } from '../core/lane.ts'
import type { TokenUsage } from '../core/record.ts'
import type { CreatedObject, ObjectName, ObjectType } from '../core/stored-object.ts'
import type { StreamEvent } from '../core/stream-event.ts'

export type { FormField } from '../core/form-scan.ts'
export type { Span } from '../core/json-scan.ts'
export type { StreamEvent } from '../core/stream-event.ts'

/**
 * What a lane must say about its protocol. A lane knows wire facts only: no keys, no routes, no sockets.
 * Everything here is synchronous and pure; bodies stay bytes.
 */
export interface Lane {
  name: LaneName
  /** `/v1`, `/v1/anthropic`, `/v1/gemini`. */
  prefix: string
  endpoints: readonly Endpoint[]
  /** Finds the endpoint for a path below the lane's prefix (still percent-encoded, no query). Null: the lane's 404. */
  match(method: string, path: string): Match | null
  /** The body to send when the route renames the model or usage must be asked for; the same buffer when neither. */
  patchBody(body: Buffer, inspection: Inspection, change: BodyPatch): Buffer
  /** Path and query below the provider's origin or base URL, with the model renamed where it stands in the path. */
  upstreamPath(match: Match, inspection: Inspection, upstreamModel: string): string
  /** A gateway error in this lane's shape. The caller adds `x-sp-*` headers and the ids. */
  renderError(fault: Fault, requestId: string): RenderedError
  /**
   * The event that ends an open stream with an error, its closing blank line (or bracket) included. `reader` is that of
   * the answer whose events went out, all of them; null when nothing but heartbeats did. It tells which shape fits.
   */
  streamError(match: Match, fault: Fault, requestId: string, reader: AnswerReader | null): Buffer
  /** The header in which its SDKs look for the request's id, for answers of the gateway's own; null: they read none. */
  requestIdHeader: string | null
  /** Whether its streams have an event that nothing can follow, so that a terminal event may go out at once. */
  endMark: boolean
  /** Sent on a silent stream between events; null where the lane's SDKs do not bear one. */
  heartbeat(match: Match): Buffer | null
  objects: LaneObjects
  /** The lane's own list of models, and one model's entry. */
  renderModels(models: ListedModel[], query: string): Buffer
  renderModel(model: ListedModel): Buffer
}

/** What stands beside a body that is read whole in whatever form it has. */
export interface WholeBodyContext {
  contentType: string
  /** The model that the client's token was made for. */
  tokenModel: string | null
}

export interface Endpoint {
  /** Stable word on the record: `chat`, `responses`, `files.create`, `models.list`, `messages`, `generate`, … */
  operation: string
  /** `SOCKET`: a WebSocket handshake, which is a GET with an upgrade. `ANY`: these and all others, of what nobody serves. */
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'SOCKET' | 'ANY'
  /**
   * Below the lane's prefix, with `{model}` and, on Gemini, `{version}`; `{object}` is the id of the object that the call is about. Any
   * other name in braces is one segment that belongs to that object and goes up as it came. `/*` at the end: all that is below.
   */
  path: string
  model: 'body' | 'body-optional' | 'path' | 'query' | 'none'
  /** Who answers: the provider, or the gateway from its snapshot; `nobody`: the lane's own 404, whoever asks. */
  served: 'provider' | 'model-list' | 'model-entry' | 'nobody'
  /** Forms that the request's body may have; empty: it has none. */
  requestForms: readonly BodyForm[]
  /** Form of a 2xx answer that is not streamed; `json-or-text`: as its content-type says. */
  responseForm: 'json' | 'json-or-text' | 'bytes' | 'lines' | 'nothing'
  /** Shape of a streamed answer; null where the endpoint never streams. Gemini's `alt` overrides it: see `Inspection.framing`. */
  stream: Framing | null
  object: ObjectUse | null
  /** Whether the provider charges it in tokens: only then are they estimated. */
  usesTokens: boolean
  /** What it begins passes between client and provider, past the gateway: served only where the operator allows that. */
  media?: 'webrtc'
  /** Its body is small and read whole, whatever its form. */
  readWhole?: true
  /**
   * Usage of what was made before: `results` in lines, of the batch that the call is about, or that wrote the file; `end` in the answer
   * that shows how something ended that went on behind its call.
   */
  reportsUsage?: 'results' | 'end'
  /** Its body may be, or hold, a batch's input file. */
  holdsBatchInput?: true
  /** Of what `nobody` serves: the reason, as half a sentence. */
  why?: string
  /** Of a call that may begin an upload: those that go on with it, at the same path with `upload_id` in the query. */
  resumedAs?: Endpoint
  /** Its answer holds a credential of the provider's for clients, which never passes: a token of the gateway's takes its place. */
  issuesClientToken?: 'client-secret' | 'auth-token'
  /** Whoever has such a token needs no key here. */
  acceptsClientToken?: 'client-secret' | 'auth-token'
  /** Reads `model` and `stream` (and what usage needs) without reserialising. */
  inspect(match: Match, query: string, body: Buffer): Inspection | Fault
  /** The fields of a form that must be known before it is sent on. */
  formFields: FormFields
  /** As `inspect`, for a body that passes as a stream: a form, with the fields that were found in time, or bytes, with none. */
  inspectForm(match: Match, query: string, fields: readonly FormField[]): Inspection | Fault
  /** Where the body is read whole: `head` is what `inspect` returned. */
  inspectWhole?(head: Inspection, body: Buffer, context: WholeBodyContext): Promise<Inspection | Fault>
  /** A new reader for one answer. */
  reader(inspection: Inspection, change: BodyPatch): AnswerReader
  /**
   * Objects that the query and the JSON body refer to; the one in the path is not among them. The body has been scanned, and all of it
   * is read again: pass an empty one where the inspection says that it names no object.
   */
  references(query: string, body: Buffer): readonly Reference[] | Fault
  /** The same for the fields that were found in a form. */
  formReferences(fields: readonly FormField[]): readonly ObjectName[]
  /** Objects that exist at the provider according to a whole 2xx answer, which is given parsed: those it created and those it shows. */
  createdObjects(match: Match, inspection: Inspection, answer: unknown): readonly CreatedObject[]
  /** Where an answer may show how background work ended (`reportsUsage: 'end'`): the ended work, with its usage. */
  endedWork(answer: unknown): readonly EndedWork[]
  /** Whether answers, or the events of a stream, may hold URLs that a client follows with its credential. */
  answersHoldUrls: boolean
  /** Where `issuesClientToken` is set: the credentials in an answer; null when it holds none that is known. */
  readClientToken?(answer: Buffer): IssuedCredentials | null
  /** null: no WebSocket. */
  socket: EndpointSocket | null
}

export type BodyForm = 'json' | 'multipart' | 'bytes'

/** Small text fields by name. Where the first two are empty, a form goes up unread, however odd it is. */
export interface FormFields {
  /** The body is held until these are found, or it ends. Given twice they are refused. */
  needed: readonly string[]
  /** They decide whether the call may be made at all: where they come after what is held (1 MiB), the call is refused. `name*`: also what is below it. */
  early: readonly string[]
  /** Read where they stand in what is held anyway. */
  read: readonly string[]
}

/** What a call has to do with one type of objects that live at a provider. */
export interface ObjectUse {
  type: ObjectType
  /** `create` and `list` name none in their path; `use` and `delete` name it as `{object}`. */
  effect: 'create' | 'list' | 'use' | 'delete'
}

export type Framing = 'sse' | 'json-array'

export interface Match {
  endpoint: Endpoint
  /** Decoded; null when the path names none. */
  pathModel: string | null
  /** Path below the prefix as the client sent it. */
  path: string
  /** Gemini: `v1`, `v1beta`, `v1alpha`; null elsewhere. */
  version: string | null
  /** The id that stands for `{object}`, decoded; null when the path has none. */
  object: string | null
}

export interface Inspection {
  /** The name the client asked for; null where the call has none. */
  model: string | null
  streamed: boolean
  /** Shape of the streamed answer that this call asks for; null exactly when it is not streamed, or a WebSocket. */
  framing: Framing | null
  /** The query to send on, without credentials; '' or '?…'. */
  query: string
  /** Byte spans of every value in the body that names the model, quotes included (a repeated key is spliced everywhere). */
  modelSpans: Span[]
  /** Of a body that holds many requests: what they name besides `model`. Each must be the caller's to use, and at the same provider. */
  additionalModels?: readonly NamedModel[]
  /** Whom the client says it asks for, by the format's own field; null when it does not say (contract.md rule 21). */
  endUser: string | null
  /** Most tokens that the client lets the whole answer have, all its choices together; null when it sets no limit. */
  outputLimit: number | null
  /** Whether the provider keeps what this call makes (a stored response, a stored completion). */
  stores: boolean
  /** Whether the body may name objects: false where none of the lane's names for a reference stands in it. */
  mayRefer: boolean
  /** Whether usage must be asked for (`stream_options.include_usage`) and where; null when the client asked or the endpoint has none. */
  usagePatch: { span: Span; text: string } | null
}

export interface BodyPatch {
  /** null: not renamed. */
  renameTo: string | null
  /** The provider's names for `Inspection.further`, in its order. */
  additionalTo?: readonly string[]
  askForUsage: boolean
}

/** What a lane knows of objects that live at the provider. Source: wire/lanes.md, sections 1.4–1.5, 2.4–2.5, 3.4–3.6. */
export interface LaneObjects {
  /** One line of a batch's results, as an endpoint that `brings` them gives it; null: it tells of no usage. Left out where none does. */
  readResult?(line: Buffer): ResultUsage | null
  /** A list's answer taken apart; null when it is no list as the protocol has them. */
  page(match: Match, body: Buffer): ObjectPage | null
  /** The page with only these of its items, each byte for byte as it was; `more`: whether the list goes on behind them. */
  writePage(match: Match, body: Buffer, page: ObjectPage, kept: readonly number[], more: boolean): Buffer
  /** The query that asks for what comes behind this page; null: nothing does. */
  nextPage(query: string, page: ObjectPage): string | null
  /** In the provider's own words: there is no such object. `requestId`: for bodies that name the request. */
  notFound(match: Match, name: ObjectName, requestId: string): RenderedError
  /** URLs and file URIs in a request that this gateway gave out, as the provider knows them; the same buffer when there are none. */
  rewriteRequestUrls(body: Buffer, urls: LaneUrls): Buffer
  /** URLs in an answer that a client follows with its credential, as they lead back here; the same buffer when there are none. */
  rewriteAnswerUrls(body: Buffer, urls: LaneUrls): Buffer
}

export interface ResultUsage {
  model: string | null
  tokens: TokenUsage
}

export interface Reference extends ObjectName {
  /** A file that is given to be carried out, line by line. */
  input?: true
}

export interface EndedWork {
  type: BackgroundWork
  id: string
  /** Of each of its answers, or of all of them to one model. */
  sums: readonly { model: string | null; lines: number; tokens: TokenUsage }[]
}

export interface ObjectPage {
  items: readonly { name: ObjectName; span: Span }[]
  /** Whether the provider has more behind it, and its own token for it, where it gives one. */
  more: boolean
  token: string | null
}

export interface LaneUrls {
  /** The lane as clients see it, prefix included: `https://gateway.example/v1/gemini`. */
  lane: string
  /** The provider's origin, or base URL up to where the lane's paths begin. */
  provider: string
}

export interface RenderedError {
  status: number
  headers: [string, string][]
  body: Buffer
}

export interface ListedModel {
  name: string
  /** Slug of the provider kind, shown as the owner where the shape has one. */
  owner: string
  contextTokens: number | null
  outputTokens: number | null
  /** Seconds since the epoch. */
  created: number
}

/**
 * Reads one answer as it passes. Never changes bytes, except that `pass` may return less than it was given
 * where the gateway asked for usage that the client did not ask for (closed list of product.md section 2, item 2).
 */
export interface AnswerReader {
  /** One stream event, in the order of the framer; events after a terminal one are fine. */
  event(event: StreamEvent): EventReading
  /** A whole JSON answer. */
  body(bytes: Buffer): BodyReading
  /** The last bytes of a whole answer that was too large for `body`: usage, where it stands there. */
  tail(bytes: Buffer): void
  /** The bytes end here (stream only): null when the stream ended as the protocol says, else what is missing. */
  end(): string | null
  /** What has been seen so far; null when the provider reported none. */
  usage(): TokenUsage | null
  seen(): Seen
}

export interface Seen {
  /** The model's name and the answer's own id as the answer shows them; null when not seen. */
  model: string | null
  responseId: string | null
  /** Events that carried data. */
  events: number
  /** Of the last event (responses only). */
  sequenceNumber: number | null
  /** How the stream is framed; null for whole answers. */
  framing: Framing | null
  /** An event too large to be held has gone out in part, and its end has not come. */
  insideEvent: boolean
  /** What the provider made on the way besides the answer itself, and a client may name later (a tool's files); nearly always none. */
  objects: readonly ObjectName[]
  /** Of an answer that is only shown again, and whole: what the provider reports of it. `usage()` is none then. */
  shown: TokenUsage | null
  /** The run whose usage `usage()` tells, or an estimate stands for: what shows its end again counts nothing. Left out where there is none. */
  counted?: string
}

export interface EventReading {
  /** First content in the sense of contract.md rule 10 is in this event; later, that it is about a token's worth of content (judged by its kind, not read). */
  content: boolean
  /**
   * The settled entry must be journaled before this event goes out. Where nothing can follow it goes out at once
   * then. Gemini has no end mark: hold a terminal event until an event with data follows (release the held one, and
   * look at the new one by itself) or the provider ends; an event without data (closing bracket) is held along with it.
   */
  terminal: boolean
  /** The provider's own error event. */
  error: StreamedError | null
  /** Bytes to hand on: `event.bytes` untouched, a shortened copy, or null to swallow it (hidden usage, half an event at a broken end). */
  pass: Buffer | null
}

export interface StreamedError {
  code: RecordErrorCode
  origin: ErrorOrigin
  /** The status that this error would have had before the stream began, so that it can be classified alike; null when the event does not say. */
  status: number | null
  /** The provider's own words, cut short. */
  message: string
}

export interface BodyReading {
  /** null: as promised; else why it is `provider_bad_response`. */
  wrong: string | null
}

/**
 * What an endpoint must say about its WebSocket. Frames pass as they came: what is read here is read beside them, and only a
 * model's name is ever changed. Source: wire/lanes.md, sections 1.3 and 3.3.
 */
export interface EndpointSocket {
  /**
   * What the handshake asks for. `meant`: the model that the client's token was made for. Where the endpoint's model is in the `body`,
   * the first frame names it, and no provider is dialled until it comes.
   */
  handshake(match: Match, query: string, tokenModel: string | null): Inspection | Fault
  /**
   * What a client's frame asks for; null: nothing that anybody here must know. A fault: it does not go up, as nothing does that is not
   * read here as the provider will read it. No lane's protocol has raw sound: binary frames are JSON too.
   */
  ask(frame: Buffer): FrameAsk | Fault | null
  /** A new reader of what a provider sends on one connection. */
  reader(): SocketReader
  /** The frame that tells a client of a fault; null where the protocol has none and only the closing frame can tell. */
  errorFrame(fault: Fault, requestId: string): Buffer | null
}

export interface IssuedCredentials {
  /** Every text in the answer that is such a credential. */
  secrets: string[]
  /** Epoch milliseconds; null: not said. */
  expiresAt: number | null
}

export interface FrameAsk {
  /** Whether a connection may begin with it. */
  opens: boolean
  /** The model that the work is for; null: the frame names none. */
  model: NamedModel | null
  /** Models for a part of the work (transcription of what the user says). */
  additionalModels: readonly NamedModel[]
  /** The call whose JSON body this frame could be: it refers to objects as that one does. null: none of its names stands in the frame. */
  bodyOf: Match | null
  /** Types that live within one connection: whoever names one of them can only mean its own. */
  own: readonly ObjectType[]
}

export interface NamedModel {
  name: string
  /** Of its values in the frame, quotes included. */
  spans: Span[]
}

export interface SocketReader {
  frame(frame: Buffer): SocketReading
  /** Sum of what the provider reported; null when it reported none. */
  usage(): TokenUsage | null
  /** Between a question and the end of its answer, as far as frames tell. */
  busy(): boolean
}

export interface SocketReading {
  /** Objects that the provider keeps from here on. */
  created: readonly ObjectName[]
  /** Objects that this connection knows from here on, kept or not. */
  seen: readonly ObjectName[]
  error: StreamedError | null
}

/** What a line of a batch's input file names. */
export interface InputLine {
  models: readonly string[]
  objects: readonly ObjectName[]
}
