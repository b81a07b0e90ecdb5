import { type Fault, fault } from '../../core/errors.ts'
import { compilePattern } from '../../core/pattern.ts'
import { effectivePolicy } from '../../policy/admit.ts'
import { requestsInFlight, shadowsInFlight } from '../../policy/counters.ts'
import { type Candidate, evaluateTarget, upstreamName } from '../../routing/candidates.ts'
import type { SnapshotRoute } from '../../store/configuration/snapshot.ts'
import { endOfFault, journalAdmitted, settle } from '../answer/settle.ts'
import { ShadowAnswer } from '../answer/shadow-answer.ts'
import { beginCapture } from '../capture/capture.ts'
import type { Gateway } from '../gateway.ts'
import { Arrival } from '../request/arrival.ts'
import { Call, type RequestCaller } from '../request/call.ts'
import { evaluate } from './evaluate.ts'
import { holdAccount } from './hold-account.ts'
import { holdBudgets } from './hold-budgets.ts'
import type { LegTarget } from './leg.ts'
import { mayRepeat } from './may-repeat.ts'
import { isPriced } from './plan-call.ts'
import { noteOutcome, sendOnce } from './send.ts'
import { translateFor } from './translate-for.ts'

/** The largest share of requests in progress, in percent. */
const mostShare = 5

/**
 * Sends an answered request once more, to the route's shadow target. Nobody waits for it, and under load it is dropped first: without room
 * for it, nothing is sent and nothing is recorded.
 */
export function sendShadow(original: Call, route: SnapshotRoute): void {
  const { gateway, abort } = original
  if (abort.aborted || gateway.draining || gateway.crashing || gateway.journal.degraded !== null) return
  if (!mayRepeat(original)) return
  const target = findTarget(original, route)
  if (target === null || !takePlace(gateway)) return
  const arrival = copyArrival(original)
  arrival.trace.route = route.model
  gateway.shadows.add(arrival.abort)
  void copy(original, arrival, target)
    .catch((error: unknown) => arrival.reportFault(error))
    .finally(() => leave(arrival))
}

async function copy(original: Call, arrival: Arrival, target: LegTarget): Promise<void> {
  const { gateway, body } = original
  if (!gateway.memoryBudget.reserve(arrival.body, body.bytes.length)) return
  arrival.body.bytes = Buffer.from(body.bytes)
  const call = copyCall(original, arrival)
  if ((await holdOfAccount(call, target)) && (await holdOwn(call, target))) await run(call, target)
  else arrival.accounts?.release()
}

/** At least one at a time, so that gateways with little traffic get shadow requests too. */
function takePlace({ counters }: Gateway): boolean {
  const most = Math.max(1, Math.floor((counters.read(requestsInFlight) * mostShare) / 100))
  return counters.reserve(shadowsInFlight, 1, most).granted
}

function leave({ gateway, abort, body }: Arrival): void {
  gateway.shadows.delete(abort)
  body.release(gateway.memoryBudget)
  gateway.counters.settle(shadowsInFlight, 1, 0)
}

/** Null: it cannot take the call now. Its health is only read, never changed. */
function findTarget(call: Call, route: SnapshotRoute): LegTarget | null {
  const { gateway, inspection, key, lane, match, caller } = call
  const { shadow } = route
  const provider = shadow === null ? undefined : gateway.model.configuration.providers.get(shadow.providerId)
  if (shadow === null || provider === undefined || inspection.model === null) return null
  const upstream = shadow.upstreamModel === null ? null : compilePattern(shadow.upstreamModel)
  const name = upstreamName(compilePattern(route.model), upstream, inspection.model)
  const target = {
    providerId: provider.row.id,
    upstreamModel: shadow.upstreamModel,
    weight: 1,
    priority: 0,
    format: null,
  }
  const now = Date.now()
  const found = evaluateTarget(
    {
      lane: lane.name,
      projectId: key.projectId,
      onlyDemo: key.onlyDemo,
      kinds: gateway.kinds,
      operation: match.endpoint.operation,
      format: match.endpoint.format ?? null,
      now,
      health: (slot, credentials, watched) => gateway.health.view(slot, now, credentials, watched, caller),
    },
    { target, provider: provider.row, upstream, watched: null },
    name,
  )
  if ('skipped' in found || found.taken.lastResort) return null
  if (call.arrival.unpriced?.denies === true && !isPriced(call, found.taken)) return null
  return withCredential(call, route, found.taken, provider)
}

function withCredential(
  { gateway }: Call,
  route: SnapshotRoute,
  candidate: Candidate,
  provider: LegTarget['provider'],
): LegTarget | null {
  const count = provider.credentials.length
  const { slot } = provider.row
  const index = count === 0 ? 0 : gateway.health.pickCredential(slot, count, Date.now(), candidate.watched)
  if (index === null) return null
  const credential = provider.credentials[index] ?? null
  const own = { credentialIndex: index, credential, tried: [index], caller: null }
  return { route, candidate, provider, ...own, translation: null, refused: null }
}

/** A request without a client of its own: nobody gets its answer. */
function copyArrival({ gateway, arrival, lane, match, inspection, key, id, trace }: Call): Arrival {
  const copy = new Arrival(gateway, arrival.request, arrival.response, arrival.clientAddress)
  copy.matched(lane, match)
  copy.unpriced = arrival.unpriced
  copy.trace.key = key
  copy.trace.shadowOf = id
  copy.trace.requestBytes = trace.requestBytes
  copy.trace.noteInspection(inspection)
  return copy
}

function copyCall({ key, presented, lane, match, inspection, outputCap, content }: Call, arrival: Arrival): Call {
  const { model } = arrival.gateway
  const policy = effectivePolicy(model.configuration.policies, key)
  const caller: RequestCaller = {
    ...{ key, policy, presented, lane, match },
    ...{ keysVersion: model.keysVersion, query: inspection.query, pin: null, clientSecret: null },
  }
  if (policy.capture !== null) beginCapture(arrival, caller, policy.capture)
  const call = new Call(arrival, caller, inspection)
  call.outputCap = outputCap
  // What content rules redacted for the first provider stays redacted for this one.
  call.content = content
  arrival.content = content
  return call
}

/** Counts in the limits of the target's account, as every attempt does. False: they have no room. */
async function holdOfAccount(call: Call, { candidate, provider }: LegTarget): Promise<boolean> {
  if (provider.limits === null) return true
  await holdAccount(call, { candidates: [candidate] })
  return call.arrival.accounts?.take(candidate, provider) === null
}

/** Counts in the budgets of its key, but in none of the key's other limits. False: they have no room. */
async function holdOwn(call: Call, { candidate }: LegTarget): Promise<boolean> {
  const { arrival, gateway, inspection, policy } = call
  const budgets = policy.limits?.filter(({ period }) => period !== null) ?? []
  if (budgets.length === 0) return true
  const hold = gateway.limits.admit(budgets, inspection.endUser, { requests: 0, tokens: 0 })
  if (!('taken' in hold)) return false
  arrival.limits = { hold, figures: { requests: null, tokens: null } }
  return (
    (await holdBudgets(call, { fault: null, route: null, candidates: [candidate], skipped: [], signals: [] })) === null
  )
}

async function run(call: Call, target: LegTarget): Promise<void> {
  const { arrival } = call
  try {
    await journalAdmitted(call)
    const translation = await translateFor(call, target.route, target)
    if (translation !== null && 'code' in translation) return await settle(arrival, endOfFault(translation))
    if (call.abort.aborted) return await settle(arrival, endOfFault(stopped(call)))
    const sending = sendOnce(call, { ...target, translation }, call.abort)
    arrival.accounts?.began(call.trace.attempts.at(-1))
    const outcome = await sending
    const { sent } = evaluate(outcome)
    noteOutcome(outcome, sent)
    const answer = sent.kind === 'answered' ? sent.answer : sent.kind === 'failed' ? sent.failure.answer : null
    if (answer !== null) await new ShadowAnswer(answer).read()
    else await settle(arrival, endOfFault(sent.kind === 'failed' ? sent.failure.fault : stopped(call)))
  } catch (error) {
    arrival.reportFault(error)
    await settle(arrival, endOfFault(fault('internal', 'A fault of the gateway ended this copy.')))
  }
}

function stopped({ abort }: Call): Fault {
  return abort.reason ?? fault('overloaded')
}
