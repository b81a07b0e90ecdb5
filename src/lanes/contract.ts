import type { FormField } from '../core/bytes/form-scan.ts'
import type { Fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import type { Edit, Member, Span } from '../core/json/json-scan.ts'
import type { LaneName } from '../core/lane.ts'
import type { BatchAsk, CreatedObject } from '../core/objects/batch-input.ts'
import type { ObjectName, ObjectType } from '../core/objects/stored-object.ts'
import type { LimitFigures } from '../core/policies/policy-limits.ts'
import type { UsageConvention, UsageDetail } from '../core/record.ts'
import type { EndedWork, ResultUsage, StartedWork } from './earlier-work.ts'
import type { OutputLimits } from './output-limits.ts'
import type {
  AnswerReader,
  Framing,
  IssuedCredentials,
  NamedModel,
  RequestContent,
  SignedReasoning,
  SocketReader,
} from './reader-contract.ts'

export type { FormField } from '../core/bytes/form-scan.ts'
export type { StreamEvent } from '../core/bytes/stream-event.ts'
export type { Span } from '../core/json/json-scan.ts'
export type {
  AnswerFacts,
  AnswerReader,
  BodyReading,
  EventReading,
  Framing,
  IssuedCredentials,
  NamedModel,
  RequestContent,
  SocketReader,
  SocketReading,
  StreamedError,
  TurnUsage,
} from './reader-contract.ts'

/**
 * A lane: everything that the gateway must know of one protocol. A lane knows the wire only, never keys, routes or
 * connections. Everything here is synchronous and pure, and bodies stay bytes.
 */
export interface Lane {
  name: LaneName
  /** `/v1`, `/v1/anthropic`, `/v1/gemini`. */
  prefix: string
  endpoints: readonly Endpoint[]
  /** Finds the endpoint for a path below the lane's prefix (still percent-encoded, without the query). Null: answer with the lane's 404. */
  match(method: string, path: string): Match | null
  /**
   * The body to send: with the model renamed, and usage requested, where the patch says so. Returns the same buffer
   * when nothing changes.
   */
  patchBody(body: Buffer, inspection: Inspection, change: BodyPatch): Buffer
  /** Path and query below the provider's origin or base URL, with the model renamed where it stands there. Absent: as they came. */
  upstreamPath?(match: Match, inspection: Inspection, upstreamModel: string): string
  /** A gateway error in this lane's shape. The caller adds the `x-sp-*` headers and the ids. */
  renderError(fault: Fault, requestId: string): RenderedError
  /**
   * The event that ends an open stream with an error, including its closing blank line (or bracket). `reader` has read
   * all events that were sent to the client; null when none was sent but keep-alives. It decides which shape fits.
   */
  streamError(match: Match, fault: Fault, requestId: string, reader: AnswerReader | null): Buffer
  /**
   * The header in which the lane's SDKs look for the request id, for answers that the gateway makes itself; null: they
   * read none.
   */
  requestIdHeader: string | null
  /** Names and values, as a flat list, in which the lane's SDKs look for the limits of their key. `now`: epoch milliseconds. */
  limitHeaders(figures: LimitFigures, now: number): readonly string[]
  /** Whether its streams have an event after which nothing can follow, so that a terminal event may be sent at once. */
  endMark: boolean
  /** A keep-alive for a silent stream, sent between events; null where the lane's SDKs cannot handle one. */
  keepAlive(match: Match): Buffer | null
  objects: LaneObjects
  /** The lane's own list of models, and one model's entry. */
  renderModels(models: ListedModel[], query: string): Buffer
  renderModel(model: ListedModel): Buffer
}

/** What `inspectWhole` needs to know besides the body. */
export interface WholeBodyContext {
  contentType: string
  /** The model that the client's token was made for. */
  tokenModel: string | null
}

export interface Endpoint {
  /** The stable name on request records: `chat`, `responses`, `files.create`, `messages`, `generate`, … */
  operation: string
  /**
   * `SOCKET`: a WebSocket handshake, which is a GET with an upgrade. `ANY`: every method, for endpoints that nobody
   * serves.
   */
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'SOCKET' | 'ANY'
  /**
   * The path below the lane's prefix, with `{model}` and, on Gemini, `{version}`. `{object}` is the id of the object
   * that the call is about. Any other name in braces is one segment that belongs to that object and is sent on
   * unchanged. `/*` at the end: everything below.
   */
  path: string
  model: 'body' | 'body-optional' | 'path' | 'query' | 'none'
  /** Who answers: the provider, or the gateway from its snapshot. `nobody`: the lane's own 404, with any key. */
  served: 'provider' | 'model-list' | 'model-entry' | 'nobody'
  /** The forms that the request body may have; empty: the call has no body. */
  requestForms: readonly BodyForm[]
  /** The form of a 2xx answer that is not streamed; `json-or-text`: its content-type decides. */
  responseForm: 'json' | 'json-or-text' | 'bytes' | 'lines' | 'nothing'
  /** The framing of a streamed answer; null: it never streams. Gemini's `alt` overrides it (`Inspection.framing`). */
  stream: Framing | null
  object: ObjectUse | null
  /** Whether the provider charges for it in tokens. If not, no tokens are estimated. */
  usesTokens: boolean
  /**
   * Content that no content rule sees: a direct connection between client and provider (`webrtc`), served only if the operator allows it; a
   * telephone call (`sip`); images, videos or a file of results in the answer (`answer`).
   */
  media?: 'webrtc' | 'sip' | 'answer'
  /** The call's format, if it can be translated for providers with another. */
  format?: FormatName
  /** The call counts the tokens of a request in this format, without asking the model. */
  counts?: FormatName
  /** How the gateway itself answers a call about a response that it keeps for a provider without stored responses. */
  keptForm?: 'response' | 'items' | 'deleted' | 'cancelled'
  /** The call asks for embeddings, and can be translated for a provider of another lane. */
  embeds?: true
  /** Where the body limits the answer's tokens. */
  outputLimits?: OutputLimits
  /** The body is small, and is read whole whatever its form. */
  readWhole?: true
  /**
   * The answer reports usage of earlier work. `results`: line by line, for the batch that the call names or that wrote the file. `end`: in
   * an answer that shows how background work ended.
   */
  reportsUsage?: 'results' | 'end'
  /** The body may be, or contain, a batch's input file. */
  holdsBatchInput?: true
  /** The provider charges for the call: if neither answer nor request says how much, the record is flagged as unpriced. */
  billed: boolean
  /** The usage that the request itself implies, for answers that report none. */
  readUnits?(content: RequestContent): UsageDetail | null
  /** Where `nobody` serves it: the reason, as half a sentence. */
  why?: string
  /**
   * Where the call may start an upload: the endpoint of the calls that continue it, at the same path with `upload_id`
   * in the query.
   */
  resumedAs?: Endpoint
  /** Its answer holds a provider's credential for clients. It never reaches them: a gateway token takes its place. */
  issuesClientToken?: 'client-secret' | 'auth-token'
  /** A client token of this kind is accepted in place of a gateway key. */
  acceptsClientToken?: 'client-secret' | 'auth-token'
  /** Reads what the gateway must know of a request (model, stream, limits, …) without parsing and rewriting the body. */
  inspect(match: Match, query: string, body: Buffer): Inspection | Fault
  /** The fields of a form that must be known before the form is forwarded. */
  formFields: FormFields
  /**
   * As `inspect`, for a body that is forwarded as a stream: a form, with the fields that were found in time, or bytes,
   * with none.
   */
  inspectForm(match: Match, query: string, fields: readonly FormField[]): Inspection | Fault
  /** Where `readWhole` is set: `head` is what `inspect` returned. */
  inspectWhole?(head: Inspection, body: Buffer, context: WholeBodyContext): Promise<Inspection | Fault>
  /** A new reader for one answer. `convention`: what the vendor's usage leaves out; absent: nothing. */
  reader(inspection: Inspection, change: BodyPatch, convention?: UsageConvention): AnswerReader
  /**
   * The objects that the query and the JSON body refer to, without the one in the path. The body has been scanned
   * before and is read again as a whole: pass an empty one where the inspection says that it names no object.
   */
  references(query: string, body: Buffer): readonly Reference[] | Fault
  /** The same for the fields that were found in a form. */
  formReferences(fields: readonly FormField[]): readonly ObjectName[]
  /**
   * The objects that exist at the provider according to a whole 2xx answer: those that it created and those that it
   * shows. `answer` is parsed JSON, or `{ id }` with the id that the reader of a stream has seen.
   */
  createdObjects(match: Match, inspection: Inspection, answer: unknown): readonly CreatedObject[]
  /**
   * One call that asks models many times (a batch): what it asks for, in the body and in its files. `inputs`: of the files.
   */
  batchAsks?(inspection: Inspection, body: Buffer, inputs: readonly BatchAsk[]): readonly BatchAsk[]
  /**
   * For calls that may start background work: the work that a whole 2xx answer shows as begun. It keeps the call's budget holds until its
   * end is shown. Such a call holds budgets even if it names no model.
   */
  startedWork?(answer: unknown): StartedWork | null
  /** Where `reportsUsage` is `end`: the background work that the answer shows as ended, with its usage. */
  endedWork(answer: unknown): readonly EndedWork[]
  /** Set if answers may contain reasoning that only the account that made it can read. */
  signedReasoning?: SignedReasoning
  /** Whether answers, or the events of a stream, may contain URLs that a client follows with its credential. */
  answersHoldUrls: boolean
  /** Where `issuesClientToken` is set: the credentials in an answer; null when none is found in a known form. */
  readClientToken?(answer: Buffer): IssuedCredentials | null
  /** Null: the endpoint is not a WebSocket. */
  socket: EndpointSocket | null
}

export type BodyForm = 'json' | 'multipart' | 'bytes'

/**
 * Names of small text fields. Where `needed` and `early` are empty, a form is forwarded unread, even if it is
 * malformed.
 */
export interface FormFields {
  /** The body is held until these are found, or until it ends. A form that has one of them twice is rejected. */
  needed: readonly string[]
  /**
   * These decide whether the call is allowed. If one comes after the part that is held (1 MiB), the call is rejected.
   * `name*`: also the fields below it.
   */
  early: readonly string[]
  /** Read if they are in the part that is held anyway. */
  read: readonly string[]
}

/** What a call does with one type of objects that live at a provider. */
export interface ObjectUse {
  type: ObjectType
  /** `create` and `list` have no object in their path; `use` and `delete` name it as `{object}`. */
  effect: 'create' | 'list' | 'use' | 'delete'
}

export interface Match {
  endpoint: Endpoint
  /** Decoded; null when the path names none. */
  pathModel: string | null
  /** The path below the prefix, as the client sent it. */
  path: string
  /** Gemini: `v1`, `v1beta`, `v1alpha`; null elsewhere. */
  version: string | null
  /** The id in place of `{object}`, decoded; null when the path has none. */
  object: string | null
}

export interface Inspection {
  /** The model that the client asked for; null where the call names none. */
  model: string | null
  streamed: boolean
  /**
   * The framing of the streamed answer that this call asks for; null exactly when it is not streamed, or a WebSocket.
   */
  framing: Framing | null
  /** The query to forward, without credentials; '' or '?…'. */
  query: string
  /** Byte spans of every value in the body that names the model, with its quotes (a repeated key is patched everywhere). */
  modelSpans: Span[]
  /**
   * The models that it names besides `model`: those of the requests of a batch, those to fall back to, those of hosted
   * tools. The caller must be allowed to use each of them, and they must be at the same provider.
   */
  additionalModels?: readonly NamedModel[]
  /** Members of the body that let the provider's own tools do something (asked-tools.ts); absent: there are none. */
  tools?: readonly Member[]
  /** The provider may answer with a model of its own choice, which the call does not name (`"fallbacks": "default"`). */
  leavesChoice?: true
  /** Of models to fall back to: their own limits in the body. `decide`: they allow a longer answer than the request itself. */
  fallbackLimits?: { spans: readonly Span[]; decide: boolean }
  /** What the requests of a batch in the body ask for. */
  asks?: readonly BatchAsk[]
  /** The end user that the client names, by the format's own field; null when it names none (contract.md rule 21). */
  endUser: string | null
  /** The most tokens that the client allows for the whole answer, all choices together; null when it sets no limit. */
  outputLimit: number | null
  /** How many answers it asks for. */
  answers: number
  /** Whether the provider keeps what this call creates (a stored response, a stored completion). */
  stores: boolean
  /** Whether the body may name objects: false where none of the lane's member names for a reference occurs in it. */
  mayRefer: boolean
  /** Whether the body may bring back reasoning that this gateway has sealed for the client (sealed-mark.ts). */
  mayReplay: boolean
  /** Asks for usage (`stream_options.include_usage`); null: the client does it itself, or the endpoint needs no asking. */
  usagePatch: Edit | null
}

export interface BodyPatch {
  /** Null: the model keeps its name. */
  renameTo: string | null
  /** The provider's names for `Inspection.additionalModels`, in the same order. */
  renameAdditionalTo?: readonly string[]
  askForUsage: boolean
  contentEdits?: readonly Edit[]
  /** Edits that remove reasoning sealed for another provider. */
  carrierEdits?: readonly Edit[]
  /** Caps the answer's tokens. Absent: the client's own limit applies. */
  cap?: { limits: OutputLimits; most: number; written: string }
}

/**
 * What a lane knows of objects that live at the provider. Source: wire/lanes.md, sections 1.4–1.5, 2.4–2.5, 3.4–3.6.
 */
export interface LaneObjects {
  /**
   * The usage in one line of a batch's results (`reportsUsage: 'results'`); null: the line reports none. Left out where
   * the lane has no such results.
   */
  readResult?(line: Buffer): ResultUsage | null
  /** The items of a list's answer; null when the answer is not a list of this protocol. */
  page(match: Match, body: Buffer): ObjectPage | null
  /**
   * The page with only the items `kept`, each byte for byte unchanged. `more`: whether the list continues after them.
   */
  writePage(match: Match, body: Buffer, page: ObjectPage, kept: readonly number[], more: boolean): Buffer
  /** The query for the next page; null: this is the last one. */
  nextPage(query: string, page: ObjectPage): string | null
  /** The provider's own answer for an object that does not exist. `requestId`: for bodies that name the request. */
  notFound(match: Match, name: ObjectName, requestId: string): RenderedError
  /**
   * Turns URLs and file URIs of this gateway in a request into the provider's own. Returns the same buffer when there
   * are none.
   */
  rewriteRequestUrls(body: Buffer, urls: LaneUrls): Buffer
  /**
   * Turns URLs in an answer that a client would follow with its credential into URLs of this gateway. Returns the same
   * buffer when there are none.
   */
  rewriteAnswerUrls(body: Buffer, urls: LaneUrls): Buffer
}

export interface Reference extends ObjectName {
  /** The file is a batch's input: its lines are requests. `items`: a file of items, for each of which models are asked. */
  input?: true | 'items'
}

export interface ObjectPage {
  items: readonly { name: ObjectName; span: Span }[]
  /** Whether the provider has more pages, and its own page token, where it gives one. */
  more: boolean
  token: string | null
}

export interface LaneUrls {
  /** The lane's address as clients see it, including the prefix: `https://gateway.example/v1/gemini`. */
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
  /** The slug of the provider kind, shown as the owner where the format has one. */
  owner: string
  contextTokens: number | null
  outputTokens: number | null
  /** Seconds since the epoch. */
  created: number
}

/**
 * How an endpoint's WebSocket is read. Frames are forwarded unchanged and read alongside; only a model's name is ever
 * changed. Source: wire/lanes.md, sections 1.3 and 3.3.
 */
export interface EndpointSocket {
  /**
   * What the handshake asks for. `tokenModel`: the model that the client's token was made for. Where the endpoint's
   * model is in the `body`, the first frame names it, and no provider is dialled before it arrives.
   */
  handshake(match: Match, query: string, tokenModel: string | null): Inspection | Fault
  /** As a lane's `upstreamPath`, and before it. */
  upstreamPath?(match: Match, inspection: Inspection, upstreamModel: string): string
  /**
   * What a client's frame asks for; null: nothing that the gateway must know. A fault: the frame is not forwarded,
   * because it cannot be read here as the provider will read it. No lane's protocol has raw audio: binary frames are
   * JSON too.
   */
  ask(frame: Buffer): FrameAsk | Fault | null
  /** A new reader for what a provider sends on one connection. `modelOf`: its model there, once it is known. */
  reader(modelOf: () => string | null): SocketReader
  /** Its frames are bodies of calls and events of streamed answers, so that content rules can look at them. */
  isHttpInFrames?: true
  /** The frame that reports a fault of responses with a `streamId`; null: only the closing frame can say it. */
  errorFrame(fault: Fault, requestId: string, streamId?: string): Buffer | null
}

export interface FrameAsk {
  /** Whether a connection may start with this frame. */
  opens: boolean
  /** It asks for a response. */
  asksResponse: boolean
  /** The model that does the work; null: the frame names none. */
  model: NamedModel | null
  /** Models for part of the work (transcription of what the user says). */
  additionalModels: readonly NamedModel[]
  leavesChoice?: Inspection['leavesChoice']
  /**
   * The call whose rules for references apply to the frame; null: none of its member names for a reference occurs in
   * the frame.
   */
  bodyOf: Match | null
  /** Types of objects that live within one connection: a frame that names one can only mean the connection's own. */
  own: readonly ObjectType[]
}
