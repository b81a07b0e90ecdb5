import { describe, expect, it } from 'vitest'
import { sampleModel } from '../../../src/console/app/areas/lane-models.ts'
import type { Explanation, Provider, ProviderKind, RouteTarget } from '../../../src/console/app/areas/outputs.ts'
import { applyEvent, emptyResponse } from '../../../src/console/app/areas/playground/playground-response.ts'
import {
  findChoice,
  freeName,
  kindChoices,
  presetChoices,
  searchChoices,
} from '../../../src/console/app/areas/providers/add-choices.ts'
import { explainSteps } from '../../../src/console/app/areas/routing/explain-steps.ts'
import { stateOfTarget } from '../../../src/console/app/areas/routing/target-state.ts'
import { inputOfPolicy } from '../../../src/console/app/areas/settings/policy-fields.ts'
import type { FormatName } from '../../../src/core/format.ts'

const explanation = (change: Record<string, unknown> = {}) =>
  ({
    model: 'gpt-4o',
    lane: 'openai',
    project: 'default',
    environment: 'production',
    key: { id: 'key_1', name: 'ci', project: 'default', environment: 'production' },
    route: {
      ...{ id: 'rte_1', model: 'gpt-*', project: 'default', environment: null, strategy: 'priority' },
      ...{ sticky: false, hedge: null, shadow: null },
    },
    request: null,
    taken: [{ provider: 'openai', upstream_model: 'gpt-4o', reason: '', estimate_usd: null, latency_ms: null }],
    skipped: [],
    limits: [],
    periods: [],
    policy_signals: [],
    routing_signals: [],
    error: null,
    note: null,
    ...change,
  }) as unknown as Explanation

const story = (change?: Record<string, unknown>) =>
  explainSteps(explanation(change)).map(({ word, text }) => `${word}: ${text}`)

describe('an explanation in steps', () => {
  it('goes from the policies over the route to the targets and the end', () => {
    const skipped = [{ provider: 'azure', upstream_model: 'gpt4o-eu', reason: 'failing since 14:02' }]
    expect(story({ skipped })).toEqual([
      'key: Key ci is in default/production.',
      'passed: No policy restricts key ci.',
      'matched: gpt-4o matches route gpt-* in all environments of default.',
      '1: Try openai with gpt-4o.',
      'skipped: Skip azure with gpt4o-eu.',
      'sent: The request would be sent.',
    ])
  })

  it('tries the targets in their order', () => {
    const figures = { estimate_usd: 0.0123, latency_ms: 420 }
    const taken = ['a', 'b'].map((provider) => ({ provider, upstream_model: 'm', reason: 'priority', ...figures }))
    expect(story({ taken }).slice(3, 5)).toEqual(['1: Try a with m.', '2: Then b with m.'])
    expect(explainSteps(explanation({ taken }))[3]?.detail).toBe('priority, about $0.0123, 420 ms')
    const lossy = taken.map((target) => ({ ...target, losses: ['seed', 'n'] }))
    expect(explainSteps(explanation({ taken: lossy }))[3]?.detail).toBe(
      'priority, loses seed, n, about $0.0123, 420 ms',
    )
    const translated = taken.map((target) => ({ ...target, losses: [] }))
    expect(explainSteps(explanation({ taken: translated }))[3]?.detail).toContain('loses nothing')
  })

  it('shows what is left of limits and budgets, and what else the route does', () => {
    const limits = [{ policy: 'team', kind: 'requests', limit: 60, used: 12, left: 48 }]
    const periods = [
      { policy: 'team', kind: 'usd', period: 'month', limit: 200, used: 200, held: 0, left: 0 },
      { policy: 'users', kind: 'tokens', period: 'day', limit: 5000, used: null, held: null, left: null },
    ]
    const route = { model: 'gpt-*', project: 'default', environment: null, strategy: 'priority' }
    const options = { sticky: true, hedge: { after: 'p95', share: 5 }, shadow: 'azure:small' }
    const text = 'The conversation stays with openai (gpt-4o): its prompt is in the cache there.'
    const routing_signals = [{ rule: 'affinity', verdict: 'taken', text }]
    expect(story({ limits, periods, route: { ...route, ...options }, routing_signals })).toEqual([
      'key: Key ci is in default/production.',
      'passed: Policies limit only how much key ci may use.',
      'left: 48 of 60 requests a minute left.',
      'used up: $0.00 of $200.00 a month left.',
      'left: Each end user has 5,000 tokens a day.',
      'matched: gpt-4o matches route gpt-* in all environments of default.',
      '1: Try openai with gpt-4o.',
      `stays: ${text}`,
      'hedge: After p95 of silence, ask a second target.',
      'copy: Once answered, send it to azure:small as well.',
      'sent: The request would be sent.',
    ])
  })

  it('says of a past request where it went, and what the estimate is made from', () => {
    const request = { id: 'req_1', provider: 'openai', upstream_model: 'gpt-4o', bytes: 1234 }
    const past = explainSteps(explanation({ request }))[1]
    expect(past?.text).toBe('Request req_1 was sent to openai/gpt-4o.')
    expect(past?.detail).toMatch(/^Estimated from its model and its 1,234 bytes: its body is not read/)
  })

  it('ends with what the client would receive', () => {
    const steps = story({ route: null, taken: [], error: { code: 'model_not_found', message: 'No such model.' } })
    expect(steps).toContain('no route: No route for gpt-4o in default/production.')
    expect(steps.at(-1)).toBe('model_not_found: The client would receive: No such model.')
    expect(steps.join()).not.toContain('would be sent')
  })

  it('has one step for each policy that looked at it, and none for a request without a key', () => {
    const policy_signals = [
      { rule: 'models', verdict: 'pass', text: 'small allows gpt-4o.' },
      { rule: 'limit', verdict: 'deny', text: 'The limit is reached.' },
    ]
    expect(story({ policy_signals }).slice(1, 3)).toEqual([
      'passed: small allows gpt-4o.',
      'denied: The limit is reached.',
    ])
    const [from, next] = story({ key: null })
    expect(from).toBe('no key: Asked from default/production.')
    expect(next).toMatch(/^matched:/)
  })
})

const found = {
  state: 'ready',
  state_reason: null,
  state_since: null,
  format: null,
  formats: [] as FormatName[],
} as const

describe('the state of a target', () => {
  const target: RouteTarget = { provider: 'openai', upstream_model: null, weight: 1, priority: 0, ...found }
  const provider = (change: Partial<Provider> = {}) =>
    ({ name: 'openai', active: true, state: 'ready', state_reason: null, state_since: null, ...change }) as Provider
  const skippedFor = (reason: string) =>
    explanation({ skipped: [{ provider: 'openai', upstream_model: 'gpt-4o', reason }] })

  it('is the provider’s where nothing is known of the request', () => {
    expect(stateOfTarget(target, 'gpt-4o', provider(), undefined)).toEqual({
      word: 'ready',
      tone: 'good',
      reason: null,
    })
    expect(stateOfTarget(target, 'gpt-4o', undefined, undefined)).toMatchObject({ word: 'missing', tone: 'bad' })
    expect(stateOfTarget(target, 'gpt-4o', provider({ active: false }), skippedFor('x'))).toMatchObject({
      word: 'inactive',
    })
  })

  it.each([
    ['every credential rests, 20 s more', 'cooling down', 'warning'],
    ['all credentials are cooling down, 20 s left', 'cooling down', 'warning'],
    ['the lane is not supported', 'skipped', 'warning'],
  ])('that is skipped with “%s” is %s', (reason, word, tone) => {
    expect(stateOfTarget(target, 'gpt-4o', provider(), skippedFor(reason))).toEqual({
      word,
      tone,
      reason,
    })
  })

  it('is its own, in the words that every surface has', () => {
    const failing = { ...target, state: 'failing', state_reason: 'refused', state_since: null } as const
    expect(stateOfTarget(failing, 'gpt-4o', provider(), skippedFor('paused for 3 s'))).toMatchObject({
      word: 'failing',
      reason: 'refused',
    })
    const recovering = { ...target, state: 'recovering', state_reason: 'one trial request' } as const
    expect(stateOfTarget(recovering, 'gpt-4o', provider(), undefined)).toMatchObject({ word: 'recovering' })
  })

  it('says since when it has been failing, with the day where that is not today', () => {
    const failing = (at: Date) =>
      stateOfTarget(
        target,
        'gpt-4o',
        provider({ state: 'failing', state_reason: 'refused', state_since: at.toISOString() }),
        undefined,
      )
    expect(failing(new Date()).word).toMatch(/^failing since \d\d:\d\d$/)
    expect(failing(new Date('2026-01-02T12:00:00Z')).word).toMatch(/^failing since 02\/01 \d\d:\d\d$/)
    expect(failing(new Date()).reason).toBe('refused')
  })

  it('of another model is not taken for it', () => {
    expect(stateOfTarget(target, 'gpt-4o-mini', provider(), skippedFor('rests')).word).toBe('ready')
  })
})

describe('what can be added as a provider', () => {
  const kind = (name: string, presets: string[] = []) =>
    ({
      kind: name,
      title: name.toUpperCase(),
      description: `About ${name}`,
      speaks: ['openai'],
      presets: presets.map((preset) => ({ name: preset, title: preset, base_url: `https://${preset}.example/v1` })),
    }) as unknown as ProviderKind
  const kinds = [kind('newest'), kind('demo'), kind('openai-compatible', ['groq']), kind('openai')]

  it('comes in the order of the gateway, in the words of each kind', () => {
    expect(kindChoices(kinds).map(({ word }) => word)).toEqual(['newest', 'demo', 'openai-compatible', 'openai'])
    expect(kindChoices(kinds).map(({ title }) => title)).toEqual(['NEWEST', 'DEMO', 'Other', 'OPENAI'])
    expect(kindChoices([kind('newest')])[0]?.about).toBe('About newest')
  })

  it('is found by its address', () => {
    expect(findChoice('openai-compatible/groq', kinds)).toMatchObject({ title: 'groq', preset: { name: 'groq' } })
    expect(findChoice('openai-compatible/own', kinds)).toMatchObject({ preset: null })
    for (const word of ['choose', 'openai-compatible/nobody', '', '/']) expect(findChoice(word, kinds), word).toBeNull()
    for (const choice of presetChoices(kinds[2] ?? kind('none'))) expect(findChoice(choice.word, kinds)).toEqual(choice)
  })

  it('is searched for among kinds and vendors by name or address', () => {
    expect(searchChoices('  ', kinds)).toBeNull()
    expect(searchChoices('GROQ', kinds)?.map(({ word }) => word)).toEqual(['openai-compatible/groq'])
    expect(searchChoices('nobody', kinds)).toEqual([])
  })

  it('gets a name that is free', () => {
    expect(freeName('openai', [])).toBe('openai')
    expect(freeName('openai', ['openai', 'openai-2', 'openai-4'])).toBe('openai-3')
  })
})

describe('a model to try a route with', () => {
  const providers = [{ name: 'openai', models: [{ name: 'o1' }, { name: 'gpt-4o' }] }] as unknown as Provider[]
  const targets = [{ provider: 'openai', upstream_model: null, weight: 1, priority: 0, ...found }]

  it('is the route’s own, or one that its pattern matches', () => {
    expect(sampleModel({ model: 'demo', targets }, providers)).toBe('demo')
    expect(sampleModel({ model: 'gpt-*', targets }, providers)).toBe('gpt-4o')
    expect(sampleModel({ model: 'claude-*', targets }, providers)).toBe('claude-x')
  })
})

describe('a policy as the input of its form', () => {
  it('has the names of the input, and sizes with their units', () => {
    const policy = { name: 'small', attached_to: ['workspace'], deny_models: ['o1'], max_body_bytes: 1_000_000 }
    expect(inputOfPolicy(policy as never)).toEqual({
      rename: 'small',
      attach: ['workspace'],
      denyModels: ['o1'],
      maxBody: '1MB',
    })
    expect(inputOfPolicy({ max_body_bytes: null } as never)).toEqual({ maxBody: null })
  })
})

describe('a response in the playground', () => {
  const begin = {
    kind: 'begin',
    status: 200,
    request_id: 'req_1',
    path: '/v1/x',
    request_body: '{}',
    headers: {},
  } as never
  const part = (text: string, at_ms: number) => ({ kind: 'part', text, raw: `raw ${text}`, at_ms }) as never
  const end = (error: string | null) => ({ kind: 'end', duration_ms: 900, first_text_ms: null, error }) as never

  it('grows part by part; the first text gives the time, and an empty part does not', () => {
    const response = [begin, part('', 10), part('Hel', 40), part('lo', 50), end(null)].reduce(applyEvent, emptyResponse)
    expect(response).toMatchObject({ state: 'ended', text: 'Hello', firstTextMs: 40, durationMs: 900, error: null })
    expect(response.raw).toBe('raw raw Helraw lo')
  })

  it('that breaks off keeps what came, with the reason', () => {
    const response = [begin, part('Hel', 40), end('the provider closed the connection')].reduce(
      applyEvent,
      emptyResponse,
    )
    expect(response).toMatchObject({ state: 'failed', text: 'Hel', error: 'the provider closed the connection' })
  })

  it('keeps no more of the raw text than a page can show, but all of the answer', () => {
    const long = 'x'.repeat(300_000)
    const response = [begin, part(long, 1), part(long, 2), part(long, 3)].reduce(applyEvent, emptyResponse)
    expect(response.text).toHaveLength(900_000)
    expect(response.raw.length).toBeLessThan(700_000)
  })
})
