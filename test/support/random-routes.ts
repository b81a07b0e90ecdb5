import type fc from 'fast-check'
import { array, boolean, constantFrom, integer, option, record } from 'fast-check'
import { fillPrice, type ModelPrice } from '../../src/core/cost/model-price.ts'
import { type AccountLimits, noAccountLimits } from '../../src/core/policies/policy-limits.ts'
import { inspectRequest } from '../../src/daemon/calls/inspect-request.ts'
import { conversationKeys, keepAffinity } from '../../src/routing/affinity.ts'
import type { Health } from '../../src/routing/health.ts'
import { RouteIndex, validateRoute } from '../../src/routing/plan.ts'
import type { SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makePolicy, makeProvider, makeRoute, makeTarget } from './snapshot.ts'

export const providerNames = ['a', 'b', 'c', 'd']
const models = ['fast', 'fine', 'dear']

const anyProvider = record({
  kind: constantFrom('openai', 'openai', 'openai', 'anthropic', 'openai-compatible', 'bedrock'),
  active: constantFrom(true, true, true, false),
  state: constantFrom('ready', 'ready', 'unchecked', 'failing'),
  projects: constantFrom<(string[] | null)[]>(null, null, ['prj_a'], ['prj_b']),
  /** What its account may be used for. */
  account: constantFrom<Partial<AccountLimits>[]>(
    ...[{}, {}, {}, { rpm: 0 }, { rpm: 3 }, { tpm: 4000 }],
    ...[{ budgetUsdMonth: 0 }, { budgetUsdMonth: 0.05 }, { rpm: 1000, budgetUsdMonth: 100 }],
  ),
})
const anyTarget = record({
  provider: constantFrom(...providerNames, 'gone'),
  model: option(constantFrom(...models)),
  weight: constantFrom(0, 1, 1, 3),
  priority: integer({ min: 0, max: 2 }),
})
const anyRoute = record({
  model: constantFrom('gpt', 'gpt*', '*', 'other'),
  environment: constantFrom(null, 'env_a1', 'env_a2'),
  enabled: constantFrom(true, true, false),
  strategy: constantFrom('priority', 'weighted', 'latency', 'cost'),
  sticky: boolean(),
  targets: array(anyTarget, { minLength: 1, maxLength: 5 }),
})
/** What has happened to a target before. */
const anyPast = record({
  slot: integer({ min: 0, max: providerNames.length - 1 }),
  model: constantFrom(...models, 'gpt'),
  what: constantFrom('fail', 'fail-all', 'limit', 'cool', 'streamed', 'whole'),
  amount: integer({ min: 1, max: 90_000 }),
})
const anyPrice = record({
  model: constantFrom(...models),
  input: integer({ min: 0, max: 50 }),
  output: integer({ min: 0, max: 50 }),
})
/** A configuration, what happened before, and one request. */
export const anyCase = record({
  providers: array(anyProvider, { minLength: providerNames.length, maxLength: providerNames.length }),
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
  /** Where the conversation has been. */
  been: option(
    record({ slot: integer({ min: 0, max: providerNames.length - 1 }), model: constantFrom(...models, 'gpt') }),
  ),
  seed: integer({ min: 1, max: 1e6 }),
})
export type Case = typeof anyCase extends fc.Arbitrary<infer Value> ? Value : never

/** The same for the same seed, from 0 to 1. */
export function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

export function configure({ providers: rows, routes, denied }: Case) {
  const made: SnapshotRoute[] = []
  for (const { model, environment, enabled, strategy, sticky, targets } of routes) {
    const named = targets.map(({ provider, model: to, weight, priority }) =>
      makeTarget(to === null ? provider : `${provider}:${to}`, { weight, priority }),
    )
    const route = makeRoute(model, named, { environmentId: environment, environment, enabled, strategy, sticky })
    if (validateRoute(route, new RouteIndex(made)) === null) made.push(route)
  }
  return makeConfiguration({
    providers: rows.map(({ kind, active, state, projects, account }, slot) =>
      makeProvider(providerNames[slot] ?? '', {
        ...{ slot, kind, active, projects },
        readiness: { state, reason: null, since: null },
        limits: { ...noAccountLimits, ...account },
        settings: kind === 'bedrock' ? { region: 'us-east-1' } : {},
      }),
    ),
    routes: made,
    policies: denied ? [makePolicy('no-other', { denyModels: ['other'] })] : [],
  })
}

export function setPast(health: Health, { past, keys }: Case, now: number): void {
  for (const { slot, model, what, amount } of past) {
    const target = { slot, model, pattern: null }
    const caller = what === 'fail' && keys > 1 ? 'key_1' : null
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
}

export function pricesOf({ prices }: Case): ModelPrice[] {
  return prices.map((price) => fillPrice({ ...price, source: 'set', version: '1' }))
}

/** The conversation has been there, on every route that goes by that. */
export function remember(
  affinities: BigUint64Array,
  chosen: Case,
  routes: readonly SnapshotRoute[],
  now: number,
): void {
  const [read] = inspectRequest(bodyOf(chosen), chosen.lane, null)
  if (read === undefined || 'fault' in read || chosen.been === null) return
  for (const route of routes) {
    const { cached } = conversationKeys(route.projectId, route, read.conversation)
    if (cached !== null) keepAffinity(affinities, cached, { ...chosen.been, credential: 0 }, now + 3_600_000, now)
  }
}

export function bodyOf({ body: { streamed, words, limit }, lane }: Case): string {
  const limits = limit === null && lane === 'openai' ? {} : { max_tokens: limit ?? 100 }
  return JSON.stringify({
    model: 'gpt',
    stream: streamed,
    ...limits,
    messages: [{ role: 'user', content: 'word '.repeat(words) }],
  })
}
