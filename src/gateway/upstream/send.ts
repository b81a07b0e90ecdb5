import { reachFaultPoint } from '../../core/fault-point.ts'
import type { AttemptRecord, Signal } from '../../core/record.ts'
import { type Attempted, type AttemptPorts, attempt, type Failure, type Sent } from '../../routing/attempt.ts'
import { skippedSignal } from '../../routing/candidates.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { chargeCutAttempt, chargeEarlier } from '../answer/charge.ts'
import { startKeepAlive } from '../answer/keep-alive.ts'
import type { Call } from '../request/call.ts'
import type { LiveProvider } from '../thread/read-model.ts'
import type { Gated } from './answer-consumer.ts'
import { applyEvaluation } from './apply-evaluation.ts'
import {
  type Answer,
  accountFull,
  evaluate,
  type GatedAttempt,
  notReady,
  outOfTime,
  untranslatable,
} from './evaluate.ts'
import { finishAttempt } from './finish-attempt.ts'
import type { AbortWatch, Hedge } from './hedge.ts'
import { raiseForTarget } from './hold-budgets.ts'
import { type Leg, type LegTarget, limitsOf, makeLeg, noteHead, reasoningOf, sendLeg } from './leg.ts'
import { refusing, withoutShown } from './shown-reasoning.ts'
import { translateFor } from './translate-for.ts'
import type { UpstreamCall } from './upstream-call.ts'

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

  /** An error has been read to its end; an answer that the content filter ended may still be streaming. */
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
    this.#call.trace.recordStep(signal)
  }

  recordSkip({ provider, upstreamModel }: Candidate, { reason, uncalled }: Failure<Answer>): void {
    const code = uncalled ?? 'open'
    this.#call.trace.skipped(skippedSignal({ provider: provider.name, upstreamModel, reason, code }))
  }

  random(): number {
    return this.#call.gateway.random()
  }
}

/** A failure's outcome if nothing follows; `Trace.recordStep` changes it when a retry or a fallback does. */
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
  const mayRefuse = translation === null && refusing.has(gateway)
  const shown = mayRefuse ? withoutShown(call, provider, candidate.upstreamModel) : null
  const refused = shown === null ? null : await shown
  // The request may have ended while it waited.
  if (watch.aborted) return { kind: 'gone' }
  const entry = gateway.health.enter(candidate.watched, caller, Date.now(), call.body.upload?.complete ?? true)
  if (entry === null)
    return notReady(candidate, 'paused after repeated failures, or another request is trying it', 'provider')
  const { accounts } = call.arrival
  const full = accounts?.take(candidate, provider) ?? null
  if (full !== null) {
    gateway.health.abandon(entry)
    return accountFull(full)
  }
  tried.push({ candidate, index: picked.credentialIndex })
  const attempted = [...before, picked.credentialIndex]
  try {
    const target = { route, candidate, provider, ...picked, tried: attempted, caller, translation, refused }
    const started = startAttempt(call, target, watch)
    accounts?.began(started.attempt)
    const first = endAttempt(started, await started.upstream.gate)
    const isDone = translation === null && first.gated.kind !== 'error'
    const finished = isDone ? first : finishAttempt(first, target, watch, (again) => sendOnce(call, again, watch))
    const outcome = finished instanceof Promise ? await finished : finished
    const sent = applyEvaluation(outcome.leg, entry, evaluate(outcome), outcome.attempt)
    noteOutcome(outcome, sent)
    if (sent.kind === 'failed') accounts?.ended(outcome.attempt)
    return sent.kind === 'failed' && call.body.upload?.spent ? stopAttempts(call, sent.failure) : sent
  } catch (error) {
    // An exception in the gateway says nothing about the provider: without this, a half-open probe would block all others.
    gateway.health.abandon(entry)
    throw error
  }
}

/** Attempts share the limit `total`, which uploads do not have. */
function isOver(call: Call, target: Pick<LegTarget, 'route' | 'provider'>): boolean {
  const { arrival, body } = call
  return body.upload === null && performance.now() >= arrival.completeAt + limitsOf(call, target).total
}

/** Whether the body may contain reasoning sealed by this gateway, which even a provider of the same format must not get. */
function mayReplayReasoning({ match, inspection }: Call): boolean {
  return inspection.mayReplay && (match.endpoint.format ?? match.endpoint.counts) !== undefined
}

/** Records how the attempt ended, and what it is charged if the gateway cut it. */
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

/** A body that was sent and not kept cannot be sent again, so this failure is the outcome. */
function stopAttempts({ trace }: Call, failure: Failure<Answer>): Sent<Answer> {
  trace.note('upload', 'The body had gone up by then and was not kept, so nothing else was tried.')
  return { kind: 'failed', failure: { ...failure, next: 'target', fallback: false } }
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
  const reasoning = reasoningOf(leg)
  if (reasoning !== null) attempt.reasoning = reasoning
  // The provider's kind may send the body again until there is an answer.
  const release = call.body.lease?.borrow()
  const upstream = sendLeg(leg)
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

/** A target, and the credential with which this request tried it. */
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
