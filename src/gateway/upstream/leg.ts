import type { Fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import type { TimeLimits } from '../../core/lane.ts'
import type { ReasoningState } from '../../core/record.ts'
import { hideSecret, type Secret } from '../../core/secrets/secret.ts'
import { flatText } from '../../core/text/flat-text.ts'
import { spanIdOf, writeTraceparent } from '../../core/trace-context.ts'
import type { AnswerReader, BodyPatch, Framing, Inspection, Lane, Match } from '../../lanes/contract.ts'
import { openFramer } from '../../lanes/framer.ts'
import type { OutboundRequest, Sending, Transport } from '../../providers/contract.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import type { AnswerStage } from '../answer/stage.ts'
import { laneUrls } from '../objects/lane-urls.ts'
import type { Call, ReplayedReasoning } from '../request/call.ts'
import type { EarlierParts, PricedModel } from '../request/trace.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { Upload, UploadChange } from '../upload/upload.ts'
import type { UploadBody } from '../upload/upload-body.ts'
import type { Gated } from './answer-consumer.ts'
import { findDenied } from './cloud-names.ts'
import { fallbackModels, nameChosen, nameFallback } from './fallback-models.ts'
import { findHeader, findRequestId, headersUp, passRange, withoutTrace } from './headers.ts'
import { UpstreamCall } from './upstream-call.ts'

/** A provider and the credential of its pool that one attempt uses. */
export interface LegTarget {
  route: SnapshotRoute | null
  candidate: Candidate
  provider: LiveProvider
  /** Place of the credential in the provider's pool. */
  credentialIndex: number
  /** The client's own credential, or the one of the pool; null: the provider asks for none. */
  credential: Secret | null
  /** Indexes of the credentials that this request has tried at this target, including this one. */
  tried: readonly number[]
  /** The key whose failures are counted separately; null: failures count for all, since the gateway has a single key. */
  caller: string | null
  /** null: the provider is asked in the call's own format. */
  translation: LegTranslation | null
  /** What this provider is known to refuse besides; null: nothing. */
  refused: ReplayedReasoning | null
}

/** An answer that goes to the client. */
export type Passing = Exclude<Extract<Gated, { head: unknown }>, { kind: 'error-event' }>

/** What an attempt needs in addition if the provider is asked in another format than the client's. */
export interface LegTranslation {
  readonly from: FormatName
  readonly to: FormatName
  /** Names of the fields that do not reach the provider or the client. */
  readonly losses: readonly string[]
  /** The request's lost fields, for the header `x-sp-lossy`; null: none. */
  readonly lossHeader: string | null
  /** What happens to signed reasoning of earlier turns; null: there is none. */
  readonly reasoning: ReasoningState | null
  makeLeg(destination: LegTarget): Leg
  /** If the provider refused reasoning that it signed itself: the request without it, at most once; null: it did not. */
  withoutSigned(gated: Gated): LegTranslation | null
  /**
   * If the provider has paused in the middle of a whole answer: resolves to the leg that asks for the rest, or to null if it may not be
   * asked for. Null: it has not paused.
   */
  afterPause(leg: Leg, gated: Gated): Promise<Leg | null> | null
  /** The same for a stream, once its terminal event has passed its stage. */
  afterStream(): Promise<Leg | null> | null
  /** Translates an answer at its gate for the client. A fault: it cannot be translated. */
  answer(leg: Leg, gated: Passing): Passing | Fault
  /** Translates a provider's error for the client. */
  error(leg: Leg, status: number, body: Buffer, retryAfterMs: number | null): Extract<Gated, { kind: 'error' }>
  /** Translates a stream. `inner`: the stages that see the client's format. */
  stage(leg: Leg, inner: readonly AnswerStage[]): AnswerStage
}

/**
 * The provider's side of one attempt. `lane`, `match` and `inspection` describe the request in the format that is sent to the provider,
 * which is the call's own unless the attempt is translated.
 */
export interface Leg extends LegTarget {
  call: Call
  lane: Lane
  match: Match
  inspection: Inspection
  limits: TimeLimits
  change: BodyPatch
  /** How the provider frames a streamed answer; null: it does not stream. */
  framing: Framing | null
  reader: AnswerReader
  /** The body of an upload is set when the request is sent. */
  request: OutboundRequest
  /** For an answer in which its provider paused: what the earlier parts used. Absent: there are none. */
  earlier?: EarlierParts
}

/** Builds everything that one attempt sends and needs. Nothing is sent yet. */
export function makeLeg(call: Call, destination: LegTarget): Leg {
  if (destination.translation !== null) return destination.translation.makeLeg(destination)
  const { lane, match, inspection } = call
  const { candidate, provider } = destination
  const { kind, row } = provider
  const limits = limitsOf(call, destination)
  const askForUsage = inspection.usagePatch !== null && !kind.unsupported(row).includes('stream_options')
  const change = changeFor(inspection, candidate, askForUsage)
  if (call.content !== null && call.content.edits.length > 0) change.contentEdits = call.content.edits
  const replayed = destination.refused ?? call.replayed
  const carrierEdits = replayed?.editsFor(candidate.upstreamModel) ?? []
  if (carrierEdits.length > 0) change.carrierEdits = carrierEdits
  if (call.outputCap !== null) capAnswer(call, provider, change, call.outputCap)
  noteChange(call, row.name, change)
  if (replayed?.stopsThinking(candidate.upstreamModel)) notePatch(call, thinkingStopped)
  // The form field that asks for a stream may come late, so the type of the answer decides.
  const framing = inspection.framing ?? (call.body.upload === null ? null : match.endpoint.stream)
  const request = makeRequest(call, destination, change, limits)
  const asked = framing === inspection.framing ? inspection : { ...inspection, framing }
  const reader = match.endpoint.reader(asked, change, kind.usageConvention?.(row))
  return { ...destination, call, lane, match, inspection, limits, change, framing, reader, request }
}

const thinkingStopped =
  'It was not asked to think: it would refuse a turn with calls that another provider began, without reasoning of its own.'

export function limitsOf({ gateway }: Call, { route, provider }: Pick<LegTarget, 'route' | 'provider'>): TimeLimits {
  return { ...gateway.settings.timeouts, ...provider.row.timeouts, ...route?.timeouts }
}

function changeFor({ model }: Inspection, candidate: Candidate, askForUsage: boolean): BodyPatch {
  const change: BodyPatch = {
    renameTo: model !== null && candidate.upstreamModel !== model ? candidate.upstreamModel : null,
    askForUsage,
  }
  if (candidate.additionalUpstreamModels !== undefined) change.renameAdditionalTo = candidate.additionalUpstreamModels
  return change
}

function capAnswer({ match }: Call, { kind }: LiveProvider, change: BodyPatch, most: number): void {
  const limits = match.endpoint.outputLimits
  if (limits === undefined) return
  const written = limits.names.find((name) => name === kind.outputLimit) ?? limits.names[0] ?? ''
  change.cap = { limits, most, written }
}

function makeRequest(call: Call, destination: LegTarget, change: BodyPatch, limits: TimeLimits): OutboundRequest {
  const { lane, match, inspection, arrival } = call
  const { candidate, provider, credential, credentialIndex } = destination
  const { kind, row } = provider
  const { rawHeaders } = arrival.request
  const body =
    call.body.upload === null && match.endpoint.requestForms.length > 0 ? patchBody(call, provider, change) : null
  const asJson = readAsJson(call)
  const { method, responseForm } = match.endpoint
  const { origin, path } = kind.address(row, lane.name, upstreamPath(lane, match, inspection, candidate.upstreamModel))
  const own = [...kind.headers(row, lane.name, credential), ...Object.entries(row.headers)]
  // The gateway has read the body as JSON; without this header the provider could read it as a form.
  if (asJson) own.push(['content-type', 'application/json'])
  const { traceparent } = arrival.request.headers
  if (traceparent !== undefined && call.gateway.settings.traces) own.push(...traceUp(call))
  const up = headersUp(rawHeaders, call.presented, own, kind.defaults ?? [])
  const headers = traceparent !== undefined && mustDropTrace(call) ? withoutTrace(up) : up
  // Only downloads support ranges.
  if (method === 'GET' && (responseForm === 'bytes' || responseForm === 'lines')) passRange(rawHeaders, headers)
  const { lease } = call.body
  return {
    method,
    origin,
    path,
    headers,
    body,
    borrowed: lease !== null && body !== null && lease.holds(body) ? lease : null,
    connectMs: limits.connect,
    egress: provider.egress === null ? null : provider.egress[credentialIndex],
  }
}

/** If requests are exported as traces, the provider gets the attempt's span as its parent in place of the client's. */
export function traceUp({ trace }: Call): [string, string][] {
  const { context, id, attempts } = trace
  return context === null ? [] : [['traceparent', writeTraceparent(context, spanIdOf(id, attempts.length))]]
}

/** An invalid trace context is not passed on if the gateway takes part in the trace. */
export function mustDropTrace({ gateway, trace }: Call): boolean {
  return gateway.settings.traces && trace.context === null
}

/** Path and query below the provider's base URL. Ids are forwarded unchanged; the model is renamed where it stands there. */
export function upstreamPath(lane: Lane, match: Match, inspection: Inspection, upstreamModel: string): string {
  const renamed = match.endpoint.socket?.upstreamPath ?? lane.upstreamPath
  return renamed === undefined ? match.path + inspection.query : renamed(match, inspection, upstreamModel)
}

const usualType = 'application/json'
const jsonType = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

function readAsJson({ body, match, arrival }: Call): boolean {
  if (body.bytes.length === 0 || match.endpoint.readWhole === true) return false
  const type = arrival.request.headers['content-type']
  return type !== usualType && !jsonType.test(type ?? '')
}

/** Also changes the gateway's URLs back into the provider's; only a body that names an object can hold one. */
function patchBody(call: Call, provider: LiveProvider, change: BodyPatch): Buffer {
  const { lane, inspection } = call
  const { renameTo, renameAdditionalTo, askForUsage, cap, contentEdits, carrierEdits } = change
  const renamed = renameTo !== null || renameAdditionalTo !== undefined
  const unchanged = !renamed && !askForUsage && cap === undefined && (contentEdits ?? carrierEdits) === undefined
  const body = unchanged ? call.body.bytes : lane.patchBody(call.body.bytes, inspection, change)
  if (call.pin === null) return body
  const restored = lane.objects.rewriteRequestUrls(body, laneUrls(call, provider))
  if (restored !== body) notePatch(call, "URLs of this gateway in the body were changed back into the provider's.")
  return restored
}

/** Notes every change of the body on the record (the closed list of product.md section 2, and what a kind must change). */
function noteChange(call: Call, provider: string, change: BodyPatch): void {
  const { renameTo, renameAdditionalTo, askForUsage, cap, contentEdits, carrierEdits } = change
  const { inspection, match } = call
  // A WebRTC offer that comes with a client token names no model.
  const named = match.endpoint.readWhole !== true || inspection.modelSpans.length > 0
  if (renameTo !== null && named) noteRename(call, "The model's name", renameTo, provider)
  for (const [index, to] of renameAdditionalTo?.entries() ?? [])
    if (to !== inspection.additionalModels?.[index]?.name) noteRename(call, "An additional model's name", to, provider)
  if (cap !== undefined) notePatch(call, flatText('The output limit was set to ', String(cap.most), ' tokens.'))
  if (contentEdits !== undefined) notePatch(call, promptRedacted)
  if (carrierEdits !== undefined)
    notePatch(call, 'Reasoning of other providers was left out: this one would refuse it.')
  if (askForUsage) notePatch(call, 'Usage was asked for (stream_options.include_usage) and is hidden from the client.')
}

function noteRename(call: Call, what: string, to: string, provider: string): void {
  notePatch(call, flatText(what, ' was changed to ', to, ' for ', provider, '.'))
}

export const promptRedacted = 'Texts of the prompt were redacted by content rules.'

export function notePatch({ trace }: Call, text: string): void {
  trace.noteOnce('patch', text)
}

/** What happened to signed reasoning; null: there was none. Without translation, only reasoning sealed by this gateway is removed. */
export function reasoningOf({ translation, change }: Leg): ReasoningState | null {
  if (translation !== null) return translation.reasoning
  return change.carrierEdits === undefined ? null : 'stripped'
}

/** Sends a leg. Its answer waits behind the gate of the upstream call. */
export function sendLeg(leg: Leg): UpstreamCall {
  const { call, framing, inspection, limits } = leg
  const { gateway, arrival, body } = call
  const transport = transportFor(leg)
  const upstream = new UpstreamCall({
    deadlines: gateway.deadlines,
    limits,
    totalAt: arrival.completeAt + limits.total,
    streamed: inspection.streamed,
    uploading: body.upload !== null,
    responseForm: leg.match.endpoint.responseForm,
    mayBeEmpty: leg.match.endpoint.model === 'none',
    streamType: framing === 'json-array' ? 'application/json' : 'text/event-stream',
    reader: leg.reader,
    mustRead: call.createsObjects || call.content?.readsAnswer === true || leg.translation !== null,
    budget: gateway.memoryBudget,
    framer: framing === null ? null : openFramer(framing),
  })
  if (body.upload !== null) leg.request.body = openUpload(leg, body.upload, upstream)
  const { deniesName } = leg.provider
  // A hosted Claude opens nothing: what looks like it is the input of a tool. A translated body is the gateway's own, without escapes.
  const denied =
    deniesName === undefined || leg.lane.name === 'anthropic'
      ? null
      : findDenied(leg.provider, deniesName, leg.request.body, (bytes) =>
          leg.translation === null ? inspection.mayRefer : bytes.includes('gs:'),
        )
  upstream.begin(denied === null ? transport.send(leg.request, upstream) : denySending(upstream, denied))
  noteLeg(leg)
  return upstream
}

/** A call that is not sent. */
function denySending(upstream: UpstreamCall, message: string): Sending {
  queueMicrotask(() => upstream.onError({ kind: 'denied', message }))
  return { abort() {}, pause() {}, resume() {} }
}

/** The body that an attempt sends; adds the headers that it needs to the leg. `upstream` is told of its progress. */
function openUpload(leg: Leg, upload: Upload, upstream: UpstreamCall): Buffer | UploadBody {
  const { headers } = leg.request
  const change = renameIn(leg)
  const encoding = leg.call.header('content-encoding')
  if (encoding !== null) headers.push('content-encoding', encoding)
  const length = upload.length(change)
  // An empty body needs no stream.
  if (length === 0) {
    upstream.bodySent()
    return Buffer.alloc(0)
  }
  if (length !== null) headers.push('content-length', String(length))
  return upload.open(change, {
    stallMs: leg.limits.betweenChunks,
    sent: () => upstream.bodySent(),
    stalled: () => upstream.bodyStalled(),
  })
}

function renameIn({ change: { renameTo }, inspection }: Leg): UploadChange | null {
  const [span] = inspection.modelSpans
  return renameTo === null || span === undefined ? null : { ...span, text: renameTo }
}

function transportFor({ call, lane, match, inspection, provider, candidate, credential }: Leg): Transport {
  const { kind, row } = provider
  const transport = kind.transport ?? call.transport
  if (kind.wrapTransport === undefined) return transport
  return kind.wrapTransport(transport, {
    provider: row,
    lane: lane.name,
    operation: match.endpoint.operation,
    model: candidate.upstreamModel,
    streamed: inspection.streamed,
    credential,
    recordChange: (text) => notePatch(call, text),
  })
}

/** The model whose price applies to a leg; null: it is free, as with the built-in provider unless a price was set for it. */
export function pricedAs({ call, provider, candidate }: Leg): PricedModel | null {
  const model = candidate.upstreamModel
  const isFree = provider.kind.transport !== null && call.gateway.model.priceOf(provider, model) === null
  return isFree ? null : { vendor: provider.vendor, model }
}

/** Records where the request goes. */
export function noteLeg(leg: Leg): void {
  const { call, provider, candidate } = leg
  const { trace } = call
  if (trace.provider !== provider.row.name) trace.providerRequestId = null
  trace.provider = provider.row.name
  trace.upstreamModel = candidate.upstreamModel
  const priced = pricedAs(leg)
  trace.priced = priced
  trace.isPricedByAnswer =
    candidate.additionalUpstreamModels !== undefined || leavesChoice(leg) || (priced !== null && isNameless(priced))
}

/** A translated call asks its own model alone. */
const leavesChoice = ({ call, translation }: Leg) => call.inspection.leavesChoice === true && translation === null

/** The call names no model, or an Azure deployment, whose name does not tell the model. */
const isNameless = ({ vendor, model }: PricedModel) => model === '' || vendor === 'azure-openai'

/**
 * Prices the leg by the model that the answer names, if the call names none (and no price was set for it), or if the provider may fall back
 * to another model.
 */
export function noteAnswered(leg: Leg): void {
  const { call, provider, reader, candidate } = leg
  const { trace, gateway } = call
  const { priced } = trace
  const fallbacks = fallbackModels(call, candidate)
  const { model } = reader.seen()
  if (model === null) return
  const own = candidate.upstreamModel
  const named = fallbacks === undefined ? null : nameFallback(trace, own, model, [own, ...fallbacks])
  const used = named ?? (leavesChoice(leg) ? nameChosen(trace, own, model) : null)
  if (used !== null) {
    trace.upstreamModel = used
    // What nobody has checked may have no price: it is not free either.
    const isCounted = named !== null || call.arrival.unpriced !== null || gateway.model.priceOf(provider, used) !== null
    if (priced !== null && isCounted) trace.priced = { ...priced, model: used }
    return
  }
  if (priced === null || !isNameless(priced)) return
  const price = gateway.model.priceOf(provider, priced.model)
  if (price !== null && (price.source !== 'shipped' || gateway.model.priceOf(provider, model) === null)) return
  trace.priced = { ...priced, model }
  if (priced.model === '') trace.upstreamModel = model
}

/** The id of the credential that was used; null if the provider needs none. */
export function credentialIdOf(leg: Pick<Leg, 'provider' | 'credentialIndex'>): string | null {
  return leg.provider.row.credentials[leg.credentialIndex]?.id ?? null
}

/** A provider's error without account ids and the secrets that were sent. */
export function hideAccount({ provider, credential }: Pick<Leg, 'provider' | 'credential'>, bytes: Buffer): Buffer {
  const scrubbed = provider.kind.scrub(bytes)
  const secrets = credential === null ? provider.secrets : [credential, ...provider.secrets]
  // Latin-1 keeps every byte through the round trip.
  const text = scrubbed.toString('latin1')
  const masked = secrets.reduce(hideSecret, text)
  return masked === text ? scrubbed : Buffer.from(masked, 'latin1')
}

/** Records what the head of the answer says. */
export function noteHead({ call: { trace }, lane }: Leg, { head }: UpstreamCall): void {
  trace.providerRequestId = findRequestId(head.headers) ?? trace.providerRequestId
  // Clients do not get this header.
  const tier = lane.name === 'gemini' ? findHeader(head.headers, 'x-gemini-service-tier') : null
  trace.statedTier = tier?.toLowerCase() ?? null
}
