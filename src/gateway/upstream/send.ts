import { reachFaultPoint } from '../../core/fault-point.ts'
import type { AttemptRecord, Signal } from '../../core/record.ts'
import { openFramer } from '../../lanes/framer.ts'
import type { Transport } from '../../providers/contract.ts'
import { type Attempted, type AttemptPorts, attempt, type Failure, type Sent } from '../../routing/attempt.ts'
import { skippedSignal } from '../../routing/candidates.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { chargeCutAttempt, chargeEarlier } from '../answer/charge.ts'
import { startKeepAlive } from '../answer/keep-alive.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import { openUpload, stopAttempts } from '../upload/send-upload.ts'
import type { Gated } from './answer-consumer.ts'
import { applyEvaluation } from './apply-evaluation.ts'
import { type Answer, crowded, evaluate, type GatedAttempt, notReady, outOfTime, untranslatable } from './evaluate.ts'
import type { AbortWatch, Hedge } from './hedge.ts'
import { raiseForTarget } from './hold-budgets.ts'
import { type Leg, type LegTarget, limitsOf, makeLeg, noteHead, noteLeg, notePatch } from './leg.ts'
import { afterRefusal, refusing, withoutShown } from './shown-reasoning.ts'
import { translateFor } from './translate-for.ts'
import { UpstreamCall } from './upstream-call.ts'

/** Tries the candidates of a plan until one answers; keeps a silent stream alive meanwhile. The admitted entry is in the journal. */
export function attemptAll(call: Call, planned: Plan, hedge: Hedge | null = null): Promise<Attempted<Answer>> {
  reachFaultPoint('journal.after-admitted')
  if (call.inspection.streamed) startKeepAlive(call)
  const retries = call.pin?.once ? 0 : (planned.route?.retries ?? 1)
  return attempt(planned.candidates, retries, new CallAttempts(call, planned.route, hedge))
}

/** The attempts of one call: sends them, and writes their outcomes to the record. */
class CallAttempts implements AttemptPorts<Candidate, Answer> {
  readonly #call: Call
  readonly #route: SnapshotRoute | null
  readonly #hedge: Hedge | null
  readonly #tried: Tried[] = []

  constructor(call: Call, route: SnapshotRoute | null, hedge: Hedge | null) {
    this.#call = call
    this.#route = route
    this.#hedge = hedge
  }

  send(candidate: Candidate): Promise<Sent<Answer>> {
    return this.#hedge === null
      ? this.#sendTo(candidate, this.#call.abort)
      : this.#hedge.send(candidate, (each, watch = this.#call.abort) => this.#sendTo(each, watch))
  }

  #sendTo(candidate: Candidate, watch: AbortWatch): Promise<Sent<Answer>> {
    return sendTo(this.#call, this.#route, { candidate, tried: this.#tried, watch })
  }

  /** An error has been read to its end; an answer that its content filter ended may still be coming. */
  discard({ error, upstream }: Answer): void {
    if (error === null) upstream.abort()
  }

  pass({ attempt, error }: Answer): void {
    attempt.outcome = error === null ? 'answered' : 'passed'
  }

  wait(ms: number): Promise<boolean> {
    return waitUnlessAborted(this.#call, ms)
  }

  describe({ provider, upstreamModel }: Candidate): string {
    return upstreamModel === '' ? provider.name : `${provider.name}/${upstreamModel}`
  }

  record(signal: Signal): void {
    recordStep(this.#call, signal)
  }

  recordSkip({ provider, upstreamModel }: Candidate, { reason, uncalled }: Failure<Answer>): void {
    const code = uncalled ?? 'open'
    this.#call.trace.skipped(skippedSignal({ provider: provider.name, upstreamModel, reason, code }))
  }

  random(): number {
    return this.#call.gateway.random()
  }
}

/** A failure's outcome as it stands if nothing follows; `recordStep` changes it when a retry or a fallback does. */
function outcomeOf(sent: Sent<Answer>): string {
  if (sent.kind === 'gone') return 'aborted'
  if (sent.kind === 'answered') return sent.answer.error === null ? 'answered' : 'passed'
  return sent.failure.answer === null ? sent.failure.fault.code : 'passed'
}

/** The provider has answered and will charge, but the answer could not be translated for the client. */
function isUnread({ translation }: Leg, { kind }: GatedAttempt['gated'], sent: Sent<Answer>): boolean {
  return translation !== null && sent.kind === 'failed' && (kind === 'whole' || kind === 'stream' || kind === 'flow')
}

/** The provider has answered and will charge, but its content filter ended the answer and the route falls back. */
function isFilteredOut(sent: Sent<Answer>): boolean {
  return sent.kind === 'failed' && sent.failure.answer !== null && sent.failure.answer.error === null
}

/** Records a retry or fallback. If an error was to be passed to the client, its attempt's outcome becomes that step. */
function recordStep({ trace }: Call, signal: Signal): void {
  trace.routingSignals.push(signal)
  const last = trace.attempts.at(-1)
  if (last?.outcome === 'passed') last.outcome = signal.rule
}

async function waitUnlessAborted({ gateway, abort, trace }: Call, ms: number): Promise<boolean> {
  trace.mark('wait')
  const { done, cancel } = gateway.deadlines.sleep(ms)
  abort.onAbort(cancel)
  await done
  abort.onAbort(null)
  return !abort.aborted
}

/** One attempt: asks the breaker, picks a credential and sends. Nothing has reached the client when it resolves. */
async function sendTo(
  call: Call,
  route: SnapshotRoute | null,
  { candidate, tried, watch }: { candidate: Candidate; tried: Tried[]; watch: AbortWatch },
): Promise<Sent<Answer>> {
  const { gateway, caller } = call
  if (watch.aborted) return { kind: 'gone' }
  const provider = gateway.model.configuration.providers.get(candidate.provider.id)
  if (provider === undefined) return notReady(candidate, 'the provider was removed')
  if (tried.length > 0 && isOver(call, { route, provider })) return outOfTime()
  const before = triedAt(tried, candidate)
  const picked = pickCredential(call, provider, candidate, before)
  if (picked === null)
    return notReady(candidate, 'every credential that it may be asked with is cooling down', 'provider')
  const translation =
    candidate.translated !== null || mayReplayReasoning(call)
      ? await translateFor(call, route, { candidate, provider, ...picked })
      : null
  if (translation !== null && 'code' in translation) return untranslatable(translation)
  const fits = call.arrival.limits === null || raiseForTarget(call, candidate)
  if (!(typeof fits === 'boolean' ? fits : await fits)) return notReady(candidate, 'the budgets have no room for it')
  // The request may have ended while it waited for its budgets.
  if (watch.aborted) return { kind: 'gone' }
  const entry = gateway.health.enter(candidate.watched, caller, Date.now(), call.body.upload?.complete ?? true)
  if (entry === null)
    return notReady(candidate, 'paused after repeated failures, or another request is trying it', 'provider')
  const { accounts } = call.arrival
  const refused = accounts?.take(candidate, provider) ?? null
  if (refused !== null) {
    gateway.health.abandon(entry)
    return crowded(refused)
  }
  tried.push({ candidate, index: picked.credentialIndex })
  const attempted = [...before, picked.credentialIndex]
  try {
    const refuses = translation === null && refusing.get(gateway)?.has(provider.row.id) === true
    const refused = refuses ? await withoutShown(call) : null
    const target = { route, candidate, provider, ...picked, tried: attempted, caller, translation, refused }
    const started = startAttempt(call, target, watch)
    accounts?.began(started.attempt)
    const first = endAttempt(started, await started.upstream.gate)
    const isDone = translation === null && first.gated.kind !== 'error'
    const finished = isDone ? first : finish(call, target, first, watch)
    const outcome = finished instanceof Promise ? await finished : finished
    const sent = applyEvaluation(outcome.leg, entry, evaluate(outcome), outcome.attempt)
    noteOutcome(outcome, sent)
    if (sent.kind === 'failed') accounts?.ended(outcome.attempt)
    return sent.kind === 'failed' && call.body.upload?.spent ? stopAttempts(call, sent.failure) : sent
  } catch (error) {
    // A fault of the gateway's own says nothing about the provider: without this, a probe would keep all others away.
    gateway.health.abandon(entry)
    throw error
  }
}

/** Attempts share the limit `total`, which uploads do not have. */
function isOver(call: Call, target: Pick<LegTarget, 'route' | 'provider'>): boolean {
  const { arrival, body } = call
  return body.upload === null && performance.now() >= arrival.completeAt + limitsOf(call, target).total
}

/** Whether the body may hold reasoning sealed by this gateway, which even a provider of the call's own format must not get. */
function mayReplayReasoning({ match, inspection }: Call): boolean {
  return inspection.mayReplay && (match.endpoint.format ?? match.endpoint.counts) !== undefined
}

/** Sends a call again if its provider refused reasoning of earlier turns or paused a translated answer, all rare. */
function finish(
  call: Call,
  target: LegTarget,
  first: GatedAttempt,
  watch: AbortWatch,
): GatedAttempt | Promise<GatedAttempt> {
  if (watch.aborted) return first
  if (target.translation === null) {
    const search = target.refused === null ? afterRefusal(call, first) : null
    if (search === null) return first
    const what = 'of earlier turns (reasoning_content)'
    return search.then((refused) =>
      refused === null ? first : sendAgain(call, { ...target, refused }, first, watch, what),
    )
  }
  const translation = target.translation.withoutSigned(first.gated)
  if (translation !== null) return sendAgain(call, { ...target, translation }, first, watch, 'that it had signed')
  const rest = first.leg.translation?.afterPause(first.leg, first.gated) ?? null
  return rest === null ? first : sendOn(first, rest, watch)
}

/** The provider refused such reasoning: sends the request once more without it. */
async function sendAgain(
  call: Call,
  target: LegTarget,
  { gated, attempt }: GatedAttempt,
  watch: AbortWatch,
  what: string,
): Promise<GatedAttempt> {
  if ('head' in gated) attempt.status = gated.head.status
  attempt.outcome = 'retry'
  attempt.message = `refused the reasoning ${what}`
  const text = `${target.provider.row.name} refused reasoning ${what}: it was stripped, and asked once more.`
  recordStep(call, { rule: 'retry', verdict: 'note', text, data: { provider: target.provider.row.name } })
  const started = startAttempt(call, target, watch)
  // The first attempt's hold on the account covers this one: nothing was charged for the refusal.
  call.arrival.accounts?.replaced(attempt, started.attempt)
  const second = endAttempt(started, await started.upstream.gate)
  const rest = second.leg.translation?.afterPause(second.leg, second.gated) ?? null
  return rest === null ? second : await sendOn(second, rest, watch)
}

/** The provider paused in the middle of its answer: asks for the rest, part by part, within the same attempt. */
async function sendOn(first: GatedAttempt, rest: Promise<Leg | null>, watch: AbortWatch): Promise<GatedAttempt> {
  let part = first
  for (let next: Promise<Leg | null> | null = rest; next !== null; ) {
    const leg: Leg | null = await next
    if (leg === null) break
    if (watch.aborted) return { ...part, gated: { kind: 'aborted' } }
    part = { ...part, leg, ...(await sendForRest(leg, (upstream) => watch.onAbort(() => upstream.abort()))) }
    watch.onAbort(null)
    part.attempt.ended_ms = leg.call.trace.elapsed()
    noteHead(leg, part.upstream)
    next = leg.translation?.afterPause(leg, part.gated) ?? null
  }
  return part
}

/** Writes to the record how the attempt ended, and what it is charged if the gateway cut it. */
export function noteOutcome({ leg, upstream, attempt, gated }: GatedAttempt, sent: Sent<Answer>): void {
  attempt.outcome = outcomeOf(sent)
  const timedOut = gated.kind === 'failed' && gated.fault.code === 'provider_timeout'
  if (timedOut || gated.kind === 'aborted' || isFilteredOut(sent) || isUnread(leg, gated, sent))
    chargeCutAttempt(leg, attempt, upstream)
  else if (sent.kind !== 'answered' || sent.answer.error !== null) chargeEarlier(leg, attempt)
  if (sent.kind === 'failed') attempt.message = sent.failure.reason
  if ('head' in gated) attempt.status = gated.head.status
}

/** Sends to one target. Resolves when the gate of its call does. */
export async function sendOnce(call: Call, target: LegTarget, watch: AbortWatch): Promise<GatedAttempt> {
  const started = startAttempt(call, target, watch)
  return endAttempt(started, await started.upstream.gate)
}

/** An attempt in progress. */
interface StartedAttempt {
  leg: Leg
  upstream: UpstreamCall
  attempt: AttemptRecord
  watch: AbortWatch
  /** Ends the attempt's use of the body's memory; undefined: that memory is not reused. */
  release: (() => void) | undefined
}

function startAttempt(call: Call, target: LegTarget, watch: AbortWatch): StartedAttempt {
  const { provider, upstreamModel } = target.candidate
  const attempt = call.trace.beginAttempt(provider.name, upstreamModel)
  watch.began?.(attempt)
  const leg = makeLeg(call, target)
  const reasoning = leg.translation === null ? strippedBy(leg) : leg.translation.reasoning
  if (reasoning !== null) attempt.reasoning = reasoning
  // Until there is an answer, the provider's kind may send the body again.
  const release = call.body.lease?.borrow()
  const upstream = begin(leg)
  watch.onAbort(() => upstream.abort())
  return { leg, upstream, attempt, watch, release }
}

/** The gate of its call has resolved. */
function endAttempt({ leg, upstream, attempt, watch, release }: StartedAttempt, gated: Gated): GatedAttempt {
  watch.onAbort(null)
  release?.()
  leg.call.trace.recordTimes(attempt, upstream.times)
  noteHead(leg, upstream)
  return { leg, upstream, attempt, gated }
}

/** Without translation the only reasoning that is removed is what this gateway had sealed. */
function strippedBy({ change }: Leg): 'stripped' | null {
  return change.carrierEdits === undefined ? null : 'stripped'
}

/** Sends a leg. Its answer waits behind the gate of the upstream call. */
export function begin(leg: Leg): UpstreamCall {
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
    budget: gateway.budget,
    framer: framing === null ? null : openFramer(framing),
  })
  if (body.upload !== null) leg.request.body = openUpload(leg, body.upload, upstream)
  upstream.begin(transport.send(leg.request, upstream))
  noteLeg(leg)
  return upstream
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

/**
 * Asks for the rest of an answer; once more if the connection broke before any of it came, as one that was idle for too long does: nothing
 * else retries a stream that has begun. `began` gets each call, to abort it if the request ends meanwhile.
 */
export async function sendForRest(
  leg: Leg,
  began: (upstream: UpstreamCall) => void,
): Promise<{ upstream: UpstreamCall; gated: Gated }> {
  for (let last = false; ; last = true) {
    const upstream = begin(leg)
    began(upstream)
    const gated = await upstream.gate
    const isStale = gated.kind === 'failed' && gated.transport === 'reset' && upstream.head.status === 0
    if (!isStale || last) return { upstream, gated }
  }
}

/** A target and the credential with which this request was sent there. */
interface Tried {
  candidate: Candidate
  index: number
}

const noneTried: readonly number[] = []

function triedAt(tried: readonly Tried[], candidate: Candidate): readonly number[] {
  if (tried.length === 0) return noneTried
  return tried.filter((each) => each.candidate === candidate).map(({ index }) => index)
}

type Picked = Pick<LegTarget, 'credentialIndex' | 'credential'>

function pickCredential(
  call: Call,
  provider: LiveProvider,
  candidate: Candidate,
  tried: readonly number[],
): Picked | null {
  const index = pickIndex(call, provider, candidate, tried)
  if (index === null) return null
  return { credentialIndex: index, credential: call.clientSecret?.secret ?? provider.credentials[index] ?? null }
}

function pickIndex(
  { gateway, trace }: Call,
  provider: LiveProvider,
  { credentialId, watched, preferredCredential: preferred }: Candidate,
  tried: readonly number[],
): number | null {
  const { slot, credentials } = provider.row
  const count = provider.credentials.length
  if (count === 0) return 0
  if (preferred !== undefined && !tried.includes(preferred) && gateway.health.isUsable(watched, preferred, Date.now()))
    return preferred
  if (credentialId === undefined) return gateway.health.pickCredential(slot, count, Date.now(), watched, tried)
  const index = credentials.findIndex(({ id }) => id === credentialId)
  // A retry has already waited for the cooldown that the attempt before it caused.
  const first = trace.attempts.length === 0
  return index < 0 || (first && gateway.health.isCoolingDown(slot, index, Date.now())) ? null : index
}
