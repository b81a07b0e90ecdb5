import fc, { array, boolean, constantFrom, integer, option, property, record } from 'fast-check'
import { expect, it } from 'vitest'
import type { AdminContext } from '../../src/admin/handlers/context.ts'
import { planQuestion } from '../../src/admin/handlers/routes/explain-route.ts'
import { fillPrice } from '../../src/core/model-price.ts'
import { inspectRequest } from '../../src/daemon/inspect-request.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { Arrival } from '../../src/gateway/request/arrival.ts'
import { Call } from '../../src/gateway/request/call.ts'
import { Trace } from '../../src/gateway/request/trace.ts'
import { ReadModel } from '../../src/gateway/thread/read-model.ts'
import { planModel } from '../../src/gateway/upstream/plan-call.ts'
import { lanes } from '../../src/lanes/index.ts'
import { effectivePolicy } from '../../src/policy/admit.ts'
import { kindsByName, providerKinds } from '../../src/providers/index.ts'
import { attachHealth, createHealthMemory } from '../../src/routing/health.ts'
import type { Plan } from '../../src/routing/plan.ts'
import { RouteIndex, validateRoute } from '../../src/routing/plan.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeKey, makePolicy, makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const runs = Number(process.env.SPGW_EXPLAIN_RUNS ?? 300)
const now = Date.now()
const providers = ['a', 'b', 'c', 'd']
const models = ['fast', 'fine', 'dear']

const anyProvider = record({
  kind: constantFrom('openai', 'openai', 'openai', 'anthropic', 'openai-compatible', 'bedrock'),
  active: constantFrom(true, true, true, false),
  state: constantFrom('ready', 'ready', 'unchecked', 'failing'),
  projects: constantFrom<(string[] | null)[]>(null, null, ['prj_a'], ['prj_b']),
})
const anyTarget = record({
  provider: constantFrom(...providers, 'gone'),
  model: option(constantFrom(...models)),
  weight: constantFrom(0, 1, 1, 3),
  priority: integer({ min: 0, max: 2 }),
})
const anyRoute = record({
  model: constantFrom('gpt', 'gpt*', '*', 'other'),
  environment: constantFrom(null, 'env_a1', 'env_a2'),
  enabled: constantFrom(true, true, false),
  strategy: constantFrom('priority', 'weighted', 'latency', 'cost'),
  targets: array(anyTarget, { minLength: 1, maxLength: 5 }),
})
/** What has happened to a target before. */
const anyPast = record({
  slot: integer({ min: 0, max: providers.length - 1 }),
  model: constantFrom(...models, 'gpt'),
  what: constantFrom('fail', 'fail-all', 'limit', 'cool', 'streamed', 'whole'),
  amount: integer({ min: 1, max: 90_000 }),
})
const anyPrice = record({
  model: constantFrom(...models),
  input: integer({ min: 0, max: 50 }),
  output: integer({ min: 0, max: 50 }),
})
const anyCase = record({
  providers: array(anyProvider, { minLength: providers.length, maxLength: providers.length }),
  routes: array(anyRoute, { minLength: 1, maxLength: 5 }),
  past: array(anyPast, { maxLength: 12 }),
  prices: array(anyPrice, { maxLength: 3 }),
  keys: integer({ min: 1, max: 2 }),
  denied: boolean(),
  lane: constantFrom('openai', 'anthropic'),
  body: record({
    streamed: boolean(),
    words: integer({ min: 0, max: 3000 }),
    limit: option(integer({ min: 1, max: 9000 })),
  }),
  seed: integer({ min: 1, max: 1e6 }),
})
type Case = typeof anyCase extends fc.Arbitrary<infer Value> ? Value : never

function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

function configure({ providers: rows, routes, denied }: Case) {
  const made: SnapshotRoute[] = []
  for (const { model, environment, enabled, strategy, targets } of routes) {
    const named = targets.map(({ provider, model: to, weight, priority }) =>
      makeTarget(to === null ? provider : `${provider}:${to}`, { weight, priority }),
    )
    const route = makeRoute(model, named, { environmentId: environment, environment, enabled, strategy })
    if (validateRoute(route, new RouteIndex(made)) === null) made.push(route)
  }
  return makeConfiguration({
    providers: rows.map(({ kind, active, state, projects }, slot) =>
      makeProvider(providers[slot] ?? '', {
        ...{ slot, kind, active, projects },
        readiness: { state, reason: null, since: null },
        settings: kind === 'bedrock' ? { region: 'us-east-1' } : {},
      }),
    ),
    routes: made,
    policies: denied ? [makePolicy('no-other', { denyModels: ['other'] })] : [],
  })
}

function prepare(chosen: Case) {
  const snapshot = configure(chosen)
  const memory = createHealthMemory(providers.length)
  const health = attachHealth(memory)
  for (const { slot, model, what, amount } of chosen.past) {
    const target = { slot, model, pattern: null }
    const caller = what === 'fail' && chosen.keys > 1 ? 'key_1' : null
    if (what === 'limit') health.limitCredential(target, 0, now + amount)
    else if (what === 'cool') health.coolDownCredential(slot, 0, now + amount)
    else if (what === 'streamed' || what === 'whole')
      health.latency.record(target, what === 'streamed', amount, now - amount)
    else
      for (let count = 0; count < 5; count++) {
        const entry = health.enter(target, caller, now)
        const outcome = { provider: 'success', target: 'failure', cause: 500 } as const
        if (entry !== null) health.record(entry, target, outcome, caller, now)
      }
  }
  const keys = Array.from({ length: chosen.keys }, (_, place) =>
    makeKey({ id: `key_${place + 1}`, hash: `hash_${place}` }),
  )
  const prices = chosen.prices.map((price) => fillPrice({ ...price, source: 'set', version: '1' }))
  return { snapshot, health: attachHealth(memory), keys, prices }
}

function bodyOf({ body: { streamed, words, limit }, lane }: Case): string {
  const limits = limit === null && lane === 'openai' ? {} : { max_tokens: limit ?? 100 }
  return JSON.stringify({
    model: 'gpt',
    stream: streamed,
    ...limits,
    messages: [{ role: 'user', content: 'word '.repeat(words) }],
  })
}

/** What the data plane decides. */
function decide(chosen: Case): Plan {
  const { snapshot, health, keys, prices } = prepare(chosen)
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
  const gateway: Partial<Gateway> = { model, health, kinds: kindsByName, random: numbers(chosen.seed) }
  const arrival: Partial<Arrival> = {
    gateway: gateway as Gateway,
    trace: new Trace('req_1', now, null, { method: 'POST', headers: {} }, '/'),
    body: { bytes, upload: null, lease: null, reserved: 0, release() {} },
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
  return planModel(call, inspection.model, null)
}

/** What `routes explain` says. */
function explain(chosen: Case): Plan {
  const { snapshot, health, keys, prices } = prepare(chosen)
  const runtime: Partial<AdminContext['runtime']> = {
    snapshot: () => ({ configuration: snapshot, keys }),
    health: (slot, credentials, target, caller) => health.view(slot, now, credentials, target, caller),
    latency: (target, streamed) => health.latency.find(target, streamed),
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
    candidates: candidates.map(({ provider, upstreamModel, lastResort, reason }) => [
      provider.name,
      upstreamModel,
      lastResort,
      reason,
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
