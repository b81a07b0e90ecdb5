import { flatText } from '../core/flat-text.ts'
import type { TimeLimits } from '../core/lane.ts'
import type { AttemptRecord } from '../core/record.ts'
import type { Secret } from '../core/secret.ts'
import type { BodyPatch, Endpoint } from '../lanes/contract.ts'
import { openFramer } from '../lanes/framer.ts'
import type { OutboundRequest, Transport } from '../providers/contract.ts'
import type { Sent } from '../routing/attempt.ts'
import type { Candidate } from '../routing/plan.ts'
import type { SnapshotRoute } from '../store/snapshot.ts'
import { Call } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { headersUp, passRange } from './headers.ts'
import { type Answer, judge, notReady } from './judge.ts'
import { laneUrls } from './objects/lane-urls.ts'
import { mayTell } from './objects/note-answer.ts'
import type { LiveProvider } from './read-model.ts'
import { isJson } from './request-form.ts'
import { endAttempts, sendUpload } from './send-body.ts'

/** Sends to one candidate and judges what came of it; nothing has reached the client when it resolves. */
export async function sendTo(
  gateway: Gateway,
  exchange: Exchange,
  route: SnapshotRoute | null,
  candidate: Candidate,
): Promise<Sent<Answer>> {
  if (exchange.stopped) return { kind: 'gone' }
  const provider = gateway.model.configuration.providers.get(candidate.provider.id)
  if (provider === undefined) return notReady(candidate, 'the provider was removed')
  const picked = pickCredential(gateway, exchange, provider, candidate)
  if (picked === null) return notReady(candidate, 'all credentials that it may be asked with are resting')
  const entry = gateway.health.enter(provider.row.slot, Date.now())
  if (entry === null) return notReady(candidate, 'it has been failing and is probed by another request')
  const attempt = beginAttempt(exchange, candidate)
  const { memory } = exchange
  // Until there is an answer, the provider's kind may send the body once more.
  memory?.lend()
  const call = startCall(gateway, exchange, route, candidate, provider, picked)
  exchange.whenGone(() => call.abort())
  const gated = await call.gate
  exchange.whenGone(null)
  memory?.sent()
  noteTimes(exchange, attempt, call)
  const pinned = candidate.credentialId !== undefined
  const secret = exchange.clientSecret?.secret ?? picked.credential
  const result = { attempt, provider, credentialIndex: picked.index, secret, pinned, entry, call, gated }
  const judged = judge({ gateway, exchange, route }, result)
  attempt.outcome = outcomeOf(judged)
  if (judged.kind === 'failed') attempt.message = judged.failure.reason
  if ('head' in gated) attempt.status = gated.head.status
  return judged.kind === 'failed' && exchange.upload?.spent ? endAttempts(exchange, judged.failure) : judged
}

interface Picked {
  index: number
  credential: Secret | null
}

function pickCredential(
  gateway: Gateway,
  exchange: Exchange,
  provider: LiveProvider,
  candidate: Candidate,
): Picked | null {
  const count = provider.credentials.length
  if (count === 0) return { index: 0, credential: null }
  if (candidate.credentialId !== undefined) return pickPinned(gateway, exchange, provider, candidate.credentialId)
  const index = gateway.health.pickCredential(provider.row.slot, count, Date.now())
  return index === null ? null : { index, credential: provider.credentials[index] ?? null }
}

/** Another try has waited as long as it was asked to; only the first finds a credential resting. */
function pickPinned(gateway: Gateway, { attempts }: Exchange, provider: LiveProvider, id: string): Picked | null {
  const index = provider.row.credentials.findIndex((each) => each.id === id)
  const credential = provider.credentials[index]
  if (credential === undefined) return null
  const { slot } = provider.row
  const rests = attempts.length === 0 && gateway.health.isCoolingDown(slot, index, Date.now())
  return rests ? null : { index, credential }
}

function startCall(
  gateway: Gateway,
  exchange: Exchange,
  route: SnapshotRoute | null,
  candidate: Candidate,
  provider: LiveProvider,
  picked: Picked,
): Call {
  const { index } = picked
  const credential = exchange.clientSecret?.secret ?? picked.credential
  const lane = exchange.lane!
  const match = exchange.match!
  const inspection = exchange.inspection!
  const { kind, row } = provider
  const limits = effectiveLimits(gateway.settings.timeouts, provider.row.timeouts, route?.timeouts)
  const change: BodyPatch = {
    renameTo:
      inspection.model !== null && candidate.upstreamModel !== inspection.model ? candidate.upstreamModel : null,
    askForUsage: inspection.usagePatch !== null && !kind.unsupported(row).includes('stream_options'),
  }
  if (candidate.further !== undefined) change.additionalTo = candidate.further
  noteSplices(exchange, row.name, change)
  const { origin, path } = kind.address(row, lane.name, lane.upstreamPath(match, inspection, candidate.upstreamModel))
  const own = [...kind.headers(row, lane.name, credential), ...Object.entries(row.headers)]
  // What was read as JSON must not be read as a form, whatever its client called it.
  if (readAsJson(exchange)) own.push(['content-type', 'application/json'])
  // Whether a form asks for a stream may come late in it, so the answer's type tells.
  const framing = inspection.framing ?? (exchange.upload === null ? null : match.endpoint.stream)
  const reader = match.endpoint.reader(framing === inspection.framing ? inspection : { ...inspection, framing }, change)
  const call = new Call({
    deadlines: gateway.deadlines,
    limits,
    totalAt: exchange.complete + limits.total,
    streamed: inspection.streamed,
    uploading: exchange.upload !== null,
    responseForm: match.endpoint.responseForm,
    mayBeEmpty: match.endpoint.model === 'none',
    streamType: framing === 'json-array' ? 'application/json' : 'text/event-stream',
    reader,
    mustRead: match.endpoint.object !== null && mayTell(match, inspection),
    room: gateway.room,
    framer: framing === null ? null : openFramer(framing),
  })
  const headers = headersUp(exchange.request.rawHeaders, exchange.presented, own, kind.defaults ?? [])
  let body: OutboundRequest['body'] = null
  if (exchange.upload !== null) body = sendUpload(exchange, call, change.renameTo, limits.betweenChunks, headers)
  else if (match.endpoint.requestForms.length > 0) body = splice(gateway, exchange, provider, change)
  if (isDownload(match.endpoint)) passRange(exchange.request.rawHeaders, headers)
  const egress = provider.egress === null ? null : provider.egress[index]
  const { memory } = exchange
  const lent = memory !== null && Buffer.isBuffer(body) && memory.holds(body) ? memory : null
  const request = {
    method: match.endpoint.method,
    origin,
    path,
    headers,
    body,
    lent,
    connectMs: limits.connect,
    egress,
  }
  call.begin(transportFor(gateway, exchange, provider, candidate, credential).send(request, call))
  exchange.provider = row.name
  exchange.upstreamModel = candidate.upstreamModel
  return call
}

function readAsJson({ body, match, request }: Exchange): boolean {
  return body.length > 0 && match!.endpoint.readWhole !== true && !isJson(request.headers['content-type'])
}

/** Bytes that can be asked for in parts. */
function isDownload({ method, responseForm }: Endpoint): boolean {
  return method === 'GET' && (responseForm === 'bytes' || responseForm === 'lines')
}

function transportFor(
  gateway: Gateway,
  exchange: Exchange,
  { kind, row }: LiveProvider,
  candidate: Candidate,
  credential: Secret | null,
): Transport {
  const transport = kind.transport ?? exchange.handshake ?? gateway.transport
  if (kind.wrapTransport === undefined) return transport
  return kind.wrapTransport(transport, {
    provider: row,
    lane: exchange.lane!.name,
    operation: exchange.match!.endpoint.operation,
    model: candidate.upstreamModel,
    streamed: exchange.inspection!.streamed,
    credential,
    recordChange: (text) => noteSplice(exchange, text),
  })
}

/** What the gateway gave out as its own is the provider's again; only what names objects can hold such. */
function splice(gateway: Gateway, exchange: Exchange, provider: LiveProvider, change: BodyPatch): Buffer {
  const lane = exchange.lane!
  const body = lane.patchBody(exchange.body, exchange.inspection!, change)
  if (exchange.pin === null) return body
  const restored = lane.objects.rewriteRequestUrls(body, laneUrls(gateway, exchange, provider))
  if (restored !== body) noteSplice(exchange, "URLs of this gateway's in the body were made the provider's again.")
  return restored
}

/** What leaves changed is on the record (the closed list of product.md section 2, and what a kind must change). */
function noteSplices(exchange: Exchange, provider: string, change: BodyPatch): void {
  // An offer that comes with a client's token names no model.
  const named = exchange.match!.endpoint.readWhole !== true || exchange.inspection!.modelSpans.length > 0
  if (change.renameTo !== null && named)
    noteSplice(exchange, flatText("The model's name was changed to ", change.renameTo, ' for ', provider, '.'))
  if (change.additionalTo !== undefined) noteFurther(exchange, provider, change.additionalTo)
  if (change.askForUsage)
    noteSplice(exchange, 'Usage was asked for (stream_options.include_usage) and is hidden from the client.')
}

function noteFurther(exchange: Exchange, provider: string, names: readonly string[]): void {
  for (const [index, to] of names.entries())
    if (to !== exchange.inspection!.additionalModels?.[index]?.name)
      noteSplice(exchange, flatText("A further model's name was changed to ", to, ' for ', provider, '.'))
}

/** Once, whatever the attempts. */
function noteSplice(exchange: Exchange, text: string): void {
  if (exchange.routingSignals.some((signal) => signal.text === text)) return
  exchange.routingSignals.push({ rule: 'splice', verdict: 'note', text })
}

function effectiveLimits(base: TimeLimits, ...layers: (Partial<TimeLimits> | undefined)[]): TimeLimits {
  return Object.assign({}, base, ...layers)
}

function beginAttempt(exchange: Exchange, candidate: Candidate): AttemptRecord {
  const before = exchange.attempts.at(-1)
  // Neither waited nor fell back: another credential of the same provider.
  if (before?.outcome === 'passed') before.outcome = 'retry'
  const attempt: AttemptRecord = {
    provider: candidate.provider.name,
    upstream_model: candidate.upstreamModel,
    status: null,
    outcome: 'started',
    started_ms: exchange.elapsed(),
    connected_ms: null,
    first_byte_ms: null,
    ended_ms: null,
    message: null,
  }
  exchange.attempts.push(attempt)
  exchange.mark('attempt')
  return attempt
}

function noteTimes(exchange: Exchange, attempt: AttemptRecord, call: Call): void {
  const { connected, firstByte } = call.times
  attempt.connected_ms = connected === null ? null : exchange.since(connected)
  attempt.first_byte_ms = firstByte === null ? null : exchange.since(firstByte)
  if (attempt.connected_ms !== null) exchange.mark('connected', attempt.connected_ms)
  if (attempt.first_byte_ms !== null) exchange.mark('first_byte', attempt.first_byte_ms)
  attempt.ended_ms = exchange.elapsed()
}

/** Of what failed: as if nothing came after it. */
function outcomeOf(sent: Sent<Answer>): string {
  if (sent.kind === 'gone') return 'aborted'
  if (sent.kind === 'answered') return sent.answer.error === null ? 'answered' : 'passed'
  return sent.failure.answer === null ? sent.failure.fault.code : 'passed'
}
