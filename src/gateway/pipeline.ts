import type { Fault } from '../core/errors.ts'
import type { FormatName } from '../core/format.ts'
import { slicedBytes } from '../core/json/known-spans.ts'
import { loadOnce } from '../core/threads/load-once.ts'
import { nextTurn } from '../core/threads/slices.ts'
import { nowDoing } from '../core/threads/turn-watch.ts'
import type { Plan } from '../routing/plan.ts'
import { answerModels } from './answer/model-answers.ts'
import { relay } from './answer/relay.ts'
import { reject, settleAborted } from './answer/respond.ts'
import { journalAdmitted } from './answer/settle.ts'
import { checkObjects } from './objects/check-objects.ts'
import type { Arrival } from './request/arrival.ts'
import type { Call } from './request/call.ts'
import { identify } from './request/identify.ts'
import { admit, receive } from './request/receive.ts'
import { holdAccount } from './upstream/hold-account.ts'
import { holdBudgets } from './upstream/hold-budgets.ts'
import { mayUseAffinity, planFor } from './upstream/plan-call.ts'
import { attemptAll } from './upstream/send.ts'

const shadow = loadOnce(() => import('./upstream/shadow.ts'))
const affinity = loadOnce(() => import('./upstream/keep-affinity.ts'))
const hedging = loadOnce(() => import('./upstream/hedge.ts'))
const content = loadOnce(() => import('./content/inspect-prompt.ts'))
const cache = loadOnce(() => import('./cache/answer-from-cache.ts'))
const estimates = loadOnce(() => import('./translation/estimate-count.ts'))

/** Runs one request: identify, receive, admit, plan, journal, attempt, relay. Every path settles the request exactly once. */
export async function handleRequest(arrival: Arrival): Promise<void> {
  const caller = identify(arrival)
  if (arrival.abort.aborted) return settleAborted(arrival)
  if ('code' in caller) return reject(arrival, caller)
  nowDoing('request', arrival.id)
  const inspection = await receive(arrival, caller)
  if (inspection !== null && !('code' in inspection)) arrival.trace.noteInspection(inspection)
  if (inspection === null || arrival.abort.aborted) return settleAborted(arrival)
  if ('code' in inspection) return reject(arrival, inspection)
  const admitted = admit(arrival, caller, inspection)
  const call = admitted instanceof Promise ? await admitted : admitted
  if (arrival.abort.aborted) return settleAborted(arrival)
  if ('code' in call) return reject(arrival, call)

  const { served, object, counts } = call.match.endpoint
  if (served !== 'provider') return answerModels(call)
  // Each step that reads all of a large body gets a turn of the event loop of its own.
  const large = arrival.body.bytes.length >= slicedBytes
  if (large) await nextTurn()
  if (call.mayNameObjects && !(await checkObjects(call))) return
  if (large) await nextTurn()
  if (object?.effect === 'list') return await answerPages(call)

  const { contentPolicies } = call
  const denied = contentPolicies === null ? null : await (await content()).inspectPrompt(call, contentPolicies)
  arrival.content = call.content
  if (denied !== null) return reject(arrival, denied)

  const found = planFor(call)
  if (found.fault !== null) return reject(arrival, found.fault)
  const planned = mayUseAffinity(call, found) ? (await affinity()).applyAffinity(call, found) : found
  const { route } = planned
  if (route !== null && route.cacheMs !== null && (await (await cache()).answerFromCache(call, route))) return
  if (counts !== undefined && (await answerWithEstimate(call, counts, planned))) return
  const unaffordable = arrival.limits === null ? null : await holdFor(call, planned)
  if (unaffordable !== null) return reject(arrival, unaffordable)
  if (call.gateway.model.configuration.limitsAccounts) await holdAccount(call, planned)
  await journalAdmitted(call)
  if (call.abort.aborted) return settleAborted(arrival)
  const hedge = planned.route?.hedge == null ? null : (await hedging()).prepareHedge(call, planned)
  const outcome = await attemptAll(call, planned, hedge)
  if (outcome.kind === 'gone') return settleAborted(arrival)
  if (outcome.kind === 'failed') return reject(arrival, await readFailure(call, outcome.fault))
  await relay(call, outcome.answer, outcome.retryAfterMs)
  if (planned.route?.shadow != null && outcome.answer.error === null) (await shadow()).sendShadow(call, planned.route)
}

/** Content rules that read answers also read what a fault quotes of the provider's error. */
async function readFailure(call: Call, reason: Fault): Promise<Fault> {
  if (call.content?.readsAnswer !== true) return reason
  return (await import('./content/read-error.ts')).readQuoted(call, call.content, reason)
}

/** A batch holds the most that all of its requests can cost. */
function holdFor(call: Call, planned: Plan): Fault | null | Promise<Fault | null> {
  if (call.match.endpoint.batchAsks === undefined) return holdBudgets(call, planned)
  return import('./objects/hold-batch.ts').then(({ holdBatch }) => holdBatch(call, planned))
}

/** Only a call for a provider of another format may need one: nothing is loaded for any other. */
async function answerWithEstimate(call: Call, format: FormatName, { candidates: [target] }: Plan): Promise<boolean> {
  if (target === undefined || target.translated === null) return false
  return await (await estimates()).answerWithEstimate(call, format, target)
}

async function answerPages(call: Call): Promise<void> {
  if (call.contentPolicies !== null) {
    const { noteUnseen } = await import('./content/note-unseen.ts')
    const denied = noteUnseen(call.trace, call.contentPolicies, 'answer', 'lists are not checked')
    if (denied !== null) return reject(call.arrival, denied)
  }
  const { answerList } = await import('./objects/list.ts')
  await answerList(call)
}
