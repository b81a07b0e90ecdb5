import { describe, expect, it } from 'vitest'
import { fault, originOf } from '../../src/core/errors.ts'
import type { LaneName } from '../../src/core/lane.ts'
import type { KindFacts, Kinds } from '../../src/routing/candidates.ts'
import type { HealthView } from '../../src/routing/health.ts'
import { compileRoutes, type Plan, type PlanQuery, plan } from '../../src/routing/plan.ts'
import type { SnapshotProvider, SnapshotRoute } from '../../src/store/configuration/snapshot.ts'
import { makeConfiguration, makeProvider, makeRoute, makeTarget } from '../support/snapshot.ts'

const now = Date.parse('2026-11-21T16:00:00Z')

const kinds: Kinds = new Map<string, KindFacts>([
  ['openai', { lanes: ['openai'] }],
  ['anthropic', { lanes: ['anthropic'] }],
  ['gemini', { lanes: ['gemini'] }],
  ['bedrock', { lanes: ['anthropic'], serves: ['messages'] }],
  ['demo', { lanes: ['openai', 'anthropic', 'gemini'] }],
])

function ask(parts: Partial<PlanQuery> = {}): PlanQuery {
  return {
    lane: 'openai',
    model: 'gpt-4o',
    projectId: 'prj_a',
    environmentId: 'env_a1',
    providerName: null,
    kinds,
    operation: 'chat',
    health: () => ({ state: 'ready' }),
    random: () => 0.5,
    figures: { latencyOf: () => null, costOf: () => null },
    now,
    ...parts,
  }
}

const one = makeProvider('one', { slot: 1 })
const two = makeProvider('two', { slot: 2 })
const inactive = makeProvider('inactive', { active: false })
const claude = makeProvider('claude', { kind: 'anthropic' })
const strangers = makeProvider('strangers', { projects: ['prj_b'] })
const rejected = makeProvider('rejected', {
  readiness: { state: 'failing', reason: 'credential_rejected', since: '2026-11-21T14:02:11Z' },
})
const cloud = makeProvider('cloud', { kind: 'bedrock' })
const everyProvider = [one, two, inactive, claude, strangers, rejected, cloud]

const inEnvironment = { environmentId: 'env_a1', environment: 'production' }
const inStaging = { environmentId: 'env_a2', environment: 'staging' }
const elsewhere = { projectId: 'prj_b', project: 'b' }

function run(routes: SnapshotRoute[], query: PlanQuery, providers: SnapshotProvider[] = everyProvider): Plan {
  return plan(query, compileRoutes(makeConfiguration({ providers, routes })))
}

/** One line for a plan: `one:gpt-4o two:gpt-4o`, or the code of its fault. */
function summary(result: Plan): string {
  if (result.fault !== null) return result.fault.code
  return result.candidates.map(({ provider, upstreamModel }) => `${provider.name}:${upstreamModel}`).join(' ')
}

const to = (...targets: string[]) => targets.map((text) => makeTarget(text))

const scenarios: { name: string; routes: SnapshotRoute[]; ask?: Partial<PlanQuery>; want: string; says?: string }[] = [
  { name: 'an exact name', routes: [makeRoute('gpt-4o', to('one'))], want: 'one:gpt-4o', says: 'one (gpt-4o): ready.' },
  { name: 'a renamed model', routes: [makeRoute('gpt-4o', to('one:other'))], want: 'one:other' },
  {
    name: "the environment's own route beats the project's",
    routes: [makeRoute('gpt-4o', to('one')), makeRoute('gpt-4o', to('two'), inEnvironment)],
    want: 'two:gpt-4o',
  },
  {
    name: "the environment's pattern beats the project's exact name",
    routes: [makeRoute('gpt-4o', to('one')), makeRoute('gpt-*', to('two'), inEnvironment)],
    want: 'two:gpt-4o',
  },
  {
    name: 'an exact name beats a pattern',
    routes: [makeRoute('gpt-4*', to('one')), makeRoute('gpt-4o', to('two'))],
    want: 'two:gpt-4o',
  },
  {
    name: 'more literal characters win',
    routes: [makeRoute('*', to('inactive')), makeRoute('g*', to('one')), makeRoute('gpt-*', to('two'))],
    want: 'two:gpt-4o',
  },
  {
    name: 'a disabled route is not matched, but named',
    routes: [makeRoute('gpt-4o', to('one'), { enabled: false }), makeRoute('gpt-*', to('two'))],
    want: 'two:gpt-4o',
    says: 'Route gpt-4o of project a, all environments would have been taken, but is disabled.',
  },
  {
    name: "a star in the upstream model takes what the pattern's took",
    routes: [makeRoute('gpt-*', to('one:openai/gpt-*-latest'))],
    want: 'one:openai/gpt-4o-latest',
  },
  { name: 'a pattern renamed to one name', routes: [makeRoute('gpt-*', to('one:only'))], want: 'one:only' },
  {
    name: 'targets by priority, then as given',
    routes: [makeRoute('gpt-4o', [makeTarget('two', { priority: 2 }), ...to('one:x', 'two:y')])],
    want: 'one:x two:y two:gpt-4o',
  },
  {
    name: 'an inactive target is passed over',
    routes: [makeRoute('gpt-4o', to('inactive', 'one'))],
    want: 'one:gpt-4o',
    says: 'inactive (gpt-4o): not active.',
  },
  {
    name: 'a failing target is passed over, with since when and why',
    routes: [makeRoute('gpt-4o', to('rejected', 'one'))],
    want: 'one:gpt-4o',
    says: 'rejected (gpt-4o): failing since 14:02 UTC: credential rejected.',
  },
  {
    name: 'a target whose kind has no such call is passed over',
    routes: [makeRoute('m', to('cloud', 'claude'))],
    ask: { lane: 'anthropic', model: 'm', operation: 'batches.create' },
    want: 'claude:m',
    says: 'cloud (m): bedrock has no such call (batches.create).',
  },
  {
    name: 'a target of another format is passed over',
    routes: [makeRoute('gpt-4o', to('claude', 'one'))],
    want: 'one:gpt-4o',
    says: 'claude (gpt-4o): speaks anthropic, the lane needs openai.',
  },
  {
    name: 'a target that is limited to other projects is passed over',
    routes: [makeRoute('gpt-4o', to('strangers', 'one'))],
    want: 'one:gpt-4o',
    says: 'strangers (gpt-4o): limited to other projects.',
  },
  {
    name: 'nothing ready',
    routes: [makeRoute('gpt-4o', to('inactive', 'rejected', 'claude'))],
    want: 'provider_not_ready',
  },
  { name: 'only other formats', routes: [makeRoute('gpt-4o', to('claude', 'strangers'))], want: 'not_translatable' },
  { name: 'a provider that is gone', routes: [makeRoute('gpt-4o', to('gone'))], want: 'provider_not_ready' },
  { name: 'no route', routes: [], want: 'model_not_found' },
  {
    name: 'only a disabled route',
    routes: [makeRoute('gpt-4o', to('one'), { enabled: false })],
    want: 'model_not_found',
  },
  { name: "another project's route", routes: [makeRoute('gpt-4o', to('one'), elsewhere)], want: 'model_not_found' },
  { name: "another environment's route", routes: [makeRoute('gpt-*', to('one'), inStaging)], want: 'model_not_found' },
  {
    name: 'a target of weight 0 gets nothing, whatever the strategy',
    routes: [makeRoute('gpt-4o', [makeTarget('one', { weight: 0 }), ...to('two')])],
    want: 'two:gpt-4o',
    says: 'one (gpt-4o): its weight is 0.',
  },
  {
    name: 'a target of weight 0 is no last resort either',
    routes: [makeRoute('gpt-4o', [makeTarget('one', { weight: 0 }), ...to('rejected')])],
    want: 'provider_not_ready',
  },
  {
    name: 'the header names a provider in vain when the call names a model',
    routes: [makeRoute('gpt-4o', to('one'))],
    ask: { providerName: 'two' },
    want: 'one:gpt-4o',
    says: 'x-sp-provider was ignored: the call names a model, and its route decides.',
  },
]

describe('plan', () => {
  for (const { name, routes, ask: parts, want, says } of scenarios) {
    it(name, () => {
      const result = run(routes, ask(parts))
      expect(summary(result)).toBe(want)
      if (says) expect(result.signals.map(({ text }) => text)).toContain(says)
    })
  }

  it('names close matches that the key may see, and another scope only to operators', () => {
    const routes = [
      makeRoute('gpt-4o', to('one')),
      makeRoute('gpt-4o-mini', to('one')),
      makeRoute('gtp-4o', to('one'), elsewhere),
      makeRoute('gpt-4p', to('one'), { enabled: false }),
      makeRoute('claude', to('one')),
    ]
    const result = run(routes, ask({ model: 'gtp-4o', maySee: (model) => model !== 'gpt-4o-mini' }))
    expect(result.fault?.message).toBe('There is no model "gtp-4o" for this key. Did you mean "gpt-4o"?')
    const note = 'Another scope has a route for this model: gtp-4o of project b, all environments.'
    expect(result).toMatchObject({ operatorNote: note, fault: { param: 'model' } })
    expect(result.signals.map(({ text }) => text)).toContain(note)
  })

  it('names the lane to call instead', () => {
    const { fault } = run([makeRoute('gpt-4o', to('claude'))], ask())
    expect(fault?.message).toContain('has this call of the openai lane, and the gateway does not translate it')
    expect(fault?.message).toContain('Call the anthropic lane instead')
  })

  it('asks to come back when the first breaker may be tried', () => {
    const views: Record<number, HealthView> = {
      1: { state: 'open', until: now + 9000 },
      2: { state: 'cooling-down', exhausted: false, until: now + 4000 },
    }
    const health = (slot: number) => views[slot] ?? { state: 'ready' as const }
    const { fault, skipped } = run([makeRoute('gpt-4o', to('one', 'two', 'rejected'))], ask({ health }))
    expect(fault).toMatchObject({ code: 'provider_not_ready', retryAfterMs: 4000, origin: 'provider' })
    expect(skipped.map(({ provider, code, reason }) => [provider, code, reason])).toEqual([
      ['one', 'open', 'paused for 9 s after repeated failures'],
      ['two', 'cooling-down', 'every credential is cooling down for another 4 s'],
      ['rejected', 'failing', 'failing since 14:02 UTC: credential rejected'],
    ])
  })

  it('lays the blame on the provider only where a target was skipped for what its provider did', () => {
    const blamed = (...targets: string[]) => run([makeRoute('gpt-4o', to(...targets))], ask()).fault
    expect(originOf(blamed('inactive', 'rejected') ?? fault('internal'))).toBe('provider')
    expect(originOf(blamed('inactive', 'gone') ?? fault('internal'))).toBe('gateway')
  })

  it('names an account that is out of quota as long as no other trouble may pass', () => {
    const poor = makeProvider('poor', {
      readiness: { state: 'failing', reason: 'out of quota', code: 'quota_exhausted', since: '2026-11-21T14:02:11Z' },
    })
    const views: Record<number, HealthView> = { 2: { state: 'cooling-down', exhausted: true, until: now + 4000 } }
    const health = (slot: number) => views[slot] ?? { state: 'ready' as const }
    const told = (...targets: string[]) =>
      run([makeRoute('gpt-4o', to(...targets))], ask({ health }), [...everyProvider, poor]).fault?.code
    expect([told('poor'), told('two'), told('poor', 'two', 'inactive')]).toEqual(
      Array(3).fill('provider_quota_exhausted'),
    )
    expect(told('poor', 'rejected')).toBe('provider_not_ready')
  })

  it('gives a half-open provider its place, and leaves one that is being tried alone', () => {
    const views: HealthView[] = [{ state: 'ready' }, { state: 'half-open' }, { state: 'probing', until: now + 1 }]
    const health = (slot: number) => views[slot] ?? { state: 'ready' as const }
    expect(summary(run([makeRoute('gpt-4o', to('two', 'one'))], ask({ health })))).toBe('one:gpt-4o')
  })

  it('says since when a provider fails, with the day when it is not today', () => {
    const readiness = { state: 'failing' as const, reason: 'credential_rejected', since: '2026-11-20T23:59:00Z' }
    const { skipped } = run([makeRoute('gpt-4o', to('one'))], ask(), [makeProvider('one', { readiness })])
    expect(skipped[0]?.reason).toBe('failing since 2026-11-20 23:59 UTC: credential rejected')
  })

  it('tells the client neither provider nor reason', () => {
    const { fault } = run([makeRoute('gpt-4o', to('rejected'))], ask())
    expect(fault?.message).not.toMatch(/rejected|credential/)
  })
})

describe('weighted routes', () => {
  const weighted = (targets: SnapshotRoute['targets']) => [makeRoute('gpt-4o', targets, { strategy: 'weighted' })]

  it('take first places by weight', () => {
    let seed = 1
    const random = () => {
      seed = (seed * 48271) % 2147483647
      return seed / 2147483647
    }
    const routes = weighted([makeTarget('one', { weight: 3 }), makeTarget('two', { weight: 1 })])
    let first = 0
    for (let round = 0; round < 2000; round++) if (summary(run(routes, ask({ random }))).startsWith('one')) first++
    expect(first / 2000).toBeGreaterThan(0.71)
    expect(first / 2000).toBeLessThan(0.79)
  })

  it('keep priorities apart, and give nothing to a weight of 0', () => {
    const routes = weighted([
      makeTarget('one:off', { weight: 0 }),
      makeTarget('two:last', { weight: 100, priority: 1 }),
      makeTarget('two:first', { weight: 1 }),
    ])
    for (const drawn of [0, 0.5, 0.999]) {
      expect(summary(run(routes, ask({ random: () => drawn })))).toBe('two:first two:last')
    }
  })
})

describe('calls without a model', () => {
  const choose = (
    routes: SnapshotRoute[],
    parts: Partial<PlanQuery> = {},
    defaultProviders: Record<string, Partial<Record<LaneName, string>>> = {},
    providers = everyProvider,
  ) => plan(ask({ model: null, ...parts }), compileRoutes(makeConfiguration({ providers, routes, defaultProviders })))

  it("go to the only active provider of the lane's format that the scope's routes use", () => {
    expect(summary(choose([makeRoute('x', to('two', 'claude', 'inactive'))]))).toBe('two:')
  })

  it('go to the default of the environment for the lane', () => {
    const routes = [makeRoute('x', to('one', 'two'))]
    expect(summary(choose(routes, {}, { env_a1: { openai: 'prv_one' } }))).toBe('one:')
    expect(summary(choose(routes, {}, { env_a1: { openai: 'prv_inactive' } }))).toBe('provider_not_ready')
  })

  it('are refused with the candidates named when two could serve them', () => {
    const { fault } = choose([makeRoute('x', to('two', 'one'))])
    expect(fault).toMatchObject({ code: 'provider_unspecified', message: expect.stringContaining('one or two could') })
  })

  it('name only providers that can serve the call', () => {
    const routes = [makeRoute('x', to('two', 'one', 'rejected', 'inactive', 'strangers', 'claude'))]
    const { fault } = choose(routes)
    expect(fault?.message).toContain('one or two could serve it')
    for (const name of ['rejected', 'inactive', 'strangers', 'claude']) expect(fault?.message).not.toContain(name)
    const named = choose(routes, { providerName: 'nobody' }).fault?.message
    expect(named).toContain('It may name one or two.')
    const health = (slot: number): HealthView =>
      slot === 1 ? { state: 'open', until: now + 9000 } : { state: 'ready' }
    expect(choose([makeRoute('x', to('two', 'one'))], { health }).fault?.message).toContain('two could serve it')
  })

  it('go where the header says, among what the scope may use', () => {
    const routes = [makeRoute('x', to('one', 'two'))]
    expect(summary(choose(routes, { providerName: 'one' }))).toBe('one:')
    expect(summary(choose(routes, { providerName: 'strangers' }))).toBe('provider_unspecified')
    expect(summary(choose(routes, { providerName: 'claude' }))).toBe('provider_unspecified')
  })

  it('without routes go to the only provider that the scope may use', () => {
    expect(summary(choose([], {}, {}, [one, claude, strangers, inactive]))).toBe('one:')
    expect(summary(choose([], {}, {}, [claude]))).toBe('provider_not_ready')
  })

  it('of the demo key go to the demo provider alone, whatever else is named', () => {
    const demo = makeProvider('demo', { slot: 9, kind: 'demo' })
    const routes = [makeRoute('x', to('one', 'demo'))]
    const asDemo = (parts: Partial<PlanQuery>, defaults = {}) =>
      summary(choose(routes, { onlyDemo: true, ...parts }, defaults, [one, demo]))
    expect(asDemo({})).toBe('demo:')
    expect(asDemo({ providerName: 'one' })).toBe('provider_unspecified')
    expect(asDemo({}, { env_a1: { openai: 'prv_one' } })).toBe('provider_not_ready')
    expect(asDemo({ model: 'x' })).toBe('demo:x')
    const pin = { providerId: 'prv_one', credentialId: null, what: 'file file-1' }
    expect(asDemo({ pin })).toBe('provider_not_ready')
  })

  it('never go to a stranger because their own provider was switched off', () => {
    expect(summary(choose([makeRoute('x', to('inactive'))], {}, {}, [one, inactive]))).toBe('provider_not_ready')
  })

  it('do not count the providers of disabled routes', () => {
    const routes = [makeRoute('x', to('one')), makeRoute('y', to('two'), { enabled: false })]
    expect(summary(choose(routes))).toBe('one:')
  })
})
