import fc, { property } from 'fast-check'
import { expect, it } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { planQuestion } from '../../src/admin/handlers/routes/explain-route.ts'
import { inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { Arrival } from '../../src/gateway/request/arrival.ts'
import { Call } from '../../src/gateway/request/call.ts'
import { Trace } from '../../src/gateway/request/trace.ts'
import { ReadModel } from '../../src/gateway/thread/read-model.ts'
import { applyAffinity } from '../../src/gateway/upstream/keep-affinity.ts'
import { mayUseAffinity, planModel } from '../../src/gateway/upstream/plan-call.ts'
import { lanes } from '../../src/lanes/index.ts'
import { effectivePolicy } from '../../src/policy/admit.ts'
import { kindsByName, providerKinds } from '../../src/providers/index.ts'
import { createAffinityMemory, recall } from '../../src/routing/affinity.ts'
import { attachHealth, createHealthMemory } from '../../src/routing/health.ts'
import type { Plan } from '../../src/routing/plan.ts'
import {
  anyCase,
  bodyOf,
  type Case,
  configure,
  numbers,
  pricesOf,
  providerNames,
  remember,
  setPast,
} from '../support/random-routes.ts'
import { makeKey } from '../support/snapshot.ts'

const runs = Number(process.env.SPGW_EXPLAIN_RUNS ?? 300)
const now = Date.now()

function prepare(chosen: Case) {
  const snapshot = configure(chosen)
  const memory = createHealthMemory(providerNames.length)
  setPast(attachHealth(memory), chosen, now)
  const keys = Array.from({ length: chosen.keys }, (_, place) =>
    makeKey({ id: `key_${place + 1}`, hash: `hash_${place}` }),
  )
  const affinities = new BigUint64Array(createAffinityMemory())
  remember(affinities, chosen, snapshot.routes, now)
  return { snapshot, health: attachHealth(memory), keys, prices: pricesOf(chosen), affinities }
}

/** What the data plane decides. */
function decide(chosen: Case): Plan {
  const { snapshot, health, keys, prices, affinities } = prepare(chosen)
  const model = new ReadModel()
  model.replaceConfiguration(snapshot)
  model.replacePrices({ revision: 1, prices })
  model.applyKeys({ full: true, version: 1, upsert: keys, remove: [] })
  const lane = lanes.find(({ name }) => name === chosen.lane)
  const match = lane?.match('POST', chosen.lane === 'openai' ? '/chat/completions' : '/v1/messages')
  const bytes = Buffer.from(bodyOf(chosen))
  if (!lane || !match || !keys[0]) throw new Error('no such endpoint')
  const inspection = match.endpoint.inspect(match, '', bytes)
  if ('code' in inspection) throw new Error(inspection.message)
  const gateway: Partial<Gateway> = { model, health, affinities, kinds: kindsByName, random: numbers(chosen.seed) }
  const arrival: Partial<Arrival> = {
    gateway: gateway as Gateway,
    trace: new Trace('req_1', now, null, { method: 'POST', headers: {} }, '/'),
    body: { bytes, upload: null, lease: null, written: [], reserved: 0, release() {} },
    receivedAt: now,
    request: { headers: {} } as Arrival['request'],
  }
  const caller = {
    key: keys[0],
    policy: effectivePolicy(model.configuration.policies, keys[0]),
    keysVersion: 1,
    presented: null,
    lane,
    match,
    query: '',
    pin: null,
    clientSecret: null,
  }
  const call = new Call(arrival as Arrival, caller, inspection)
  const planned = planModel(call, inspection.model, null)
  return mayUseAffinity(call, planned) ? applyAffinity(call, planned) : planned
}

/** What `routes explain` says. */
function explain(chosen: Case): Plan {
  const { snapshot, health, keys, prices, affinities } = prepare(chosen)
  const runtime: Partial<AdminContext['runtime']> = {
    snapshot: () => ({ configuration: snapshot, keys }),
    health: (slot, credentials, target, caller) => health.view(slot, now, credentials, target, caller),
    latency: (target, streamed) => health.latency.find(target, streamed),
    recall: (keys) => recall(affinities, keys, now),
    isUsable: (target, credential) => health.isUsable(target, credential, now),
    prices: () => prices,
  }
  const context: Partial<AdminContext> = { runtime: runtime as AdminContext['runtime'], kinds: providerKinds }
  const [inspected] = inspectRequest(bodyOf(chosen), chosen.lane, null)
  if (inspected === undefined || 'fault' in inspected || !keys[0]) throw new Error('no such request')
  const question = { ...inspected, model: 'gpt', lanes: [chosen.lane] }
  const scope = { project: { id: 'prj_a' }, environment: { id: 'env_a1' } }
  return planQuestion(context as AdminContext, scope, question, keys[0], { now, random: numbers(chosen.seed) }).planned
}

function summary({ fault, route, candidates, skipped, signals }: Plan) {
  return {
    fault: fault === null ? null : [fault.code, fault.message],
    route: route?.model ?? null,
    candidates: candidates.map(({ provider, upstreamModel, lastResort, reason, preferredCredential }) => [
      provider.name,
      upstreamModel,
      lastResort,
      reason,
      preferredCredential,
    ]),
    skipped: skipped.map(({ provider, upstreamModel, code, reason }) => [provider, upstreamModel, code, reason]),
    signals: signals.map(({ text }) => text),
  }
}

it(`explains what the data plane decides, in ${runs} random configurations`, () => {
  fc.assert(
    property(anyCase, (chosen) => {
      expect(summary(explain(chosen))).toEqual(summary(decide(chosen)))
    }),
    { numRuns: runs },
  )
})
