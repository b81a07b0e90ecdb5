import { describe, expect, it } from 'vitest'
import type { Key, Provider, Route, StatsRow } from '../../../src/console/app/areas/outputs.ts'
import { type AttentionInput, listAttention } from '../../../src/console/app/areas/overview/attention.ts'
import { outcomeSeries } from '../../../src/console/app/areas/overview/outcome-series.ts'
import { histogramSteps } from '../../../src/console/app/areas/requests/histogram-steps.ts'
import { chooseSpan, firstTraffic } from '../../../src/console/app/areas/usual-span.ts'
import { type Series, stepTimes } from '../../../src/console/app/client/series-shape.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const provider = (name: string, change: Record<string, unknown> = {}) =>
  ({
    name,
    active: true,
    state: 'ready',
    state_reason: null,
    last_hour: { tried: 0, failed: 0 },
    targets: [],
    calls_without_model: null,
    ...change,
  }) as unknown as Provider
const nothing: AttentionInput = {
  providers: [],
  routes: [],
  keys: [],
  errors: [],
  budgets: [],
  nodes: [],
  models: [],
  now,
}
const listed = (input: Partial<AttentionInput>) =>
  listAttention({ ...nothing, ...input }).map(({ tone, subject, text, to }) => `${tone} ${subject}: ${text} → ${to}`)

describe('what needs attention', () => {
  it('is nothing where all is well', () => {
    expect(listed({ providers: [provider('openai', { last_hour: { tried: 100, failed: 3 } })] })).toEqual([])
  })

  it('names a provider whose attempts fail, with the reason, and not one that was deactivated', () => {
    const dead = {
      state: 'failing',
      state_reason: "Cannot resolve the provider's host name",
      last_hour: { tried: 36, failed: 36 },
    }
    expect(listed({ providers: [provider('off', { ...dead, active: false }), provider('openai', dead)] })).toEqual([
      "bad openai: 36 of 36 attempts failed in the last hour. Cannot resolve the provider's host name → /providers/$name",
    ])
    const half = provider('half', { last_hour: { tried: 10, failed: 4 } })
    expect(listed({ providers: [half] })[0]).toMatch(/^warning half: 4 of 10 attempts failed/)
  })

  it('warns of a provider that recovers and that nobody has called since', () => {
    const recovering = provider('openai', { state: 'recovering' })
    expect(listed({ providers: [recovering] })).toEqual(['warning openai: recovering → /providers/$name'])
  })

  it('names nodes that are not heard of or out of service, degraded parts of other nodes, and clocks that are apart', () => {
    const now = { in_flight: 0, traffic: null, clock_ahead_ms: null, draining: false }
    const well: Omit<AttentionInput['nodes'][number], 'name'> = { ...now, state: 'present', degraded: [] }
    const degraded = [{ part: 'valkey', reason: 'it does not answer', since: '2026-03-01T11:00:00Z' }]
    const nodes: AttentionInput['nodes'] = [
      { ...well, name: 'gw-a', degraded },
      { ...well, name: 'gw-b', degraded, clock_ahead_ms: 95_000 },
      { ...well, name: 'gw-c', state: 'absent' },
      { ...well, name: 'gw-d', draining: true },
    ]
    expect(listed({ nodes })).toEqual([
      'bad node gw-c: not heard of: it has ended, or is cut off → /settings/$section',
      'warning node gw-b: valkey is degraded: it does not answer → /settings/$section',
      'warning node gw-b: its clock is 95 s ahead of PostgreSQL’s → /settings/$section',
      'warning node gw-d: out of service; to bring it back, on it: spgw cluster drain --undo → /settings/$section',
    ])
    const many = ['records', 'isolated', 'postgres'].map((part) => ({ part, reason: 'why', since: '' }))
    expect(
      listed({
        nodes: [
          { ...well, name: 'gw-a' },
          { ...well, name: 'gw-b', degraded: many },
        ],
      }),
    ).toEqual([
      'warning node gw-b: records are degraded: why → /settings/$section',
      'warning node gw-b: isolated: why → /settings/$section',
      'warning node gw-b: postgres is degraded: why → /settings/$section',
    ])
    const cut = { ...well, name: 'gw-a', degraded: [{ part: 'postgres', reason: 'no route', since: '' }] }
    expect(listed({ nodes: [cut, { ...well, name: 'gw-c', state: 'absent' }] })).toEqual([])
  })

  it('names a budget from 80% on', () => {
    const budget = {
      policy: 'team',
      scope: 'project:search',
      kind: 'usd',
      period: 'month',
      held: 0,
      limit: 200,
    } as const
    const resets_at = '2026-04-01T00:00:00Z'
    const used = [100, 170, 200].map((used) => ({ ...budget, used, resets_at }))
    expect(listed({ budgets: used })).toEqual([
      'bad Budget of project search: $200.00 of $200.00 a month spent (100%, policy team) → /settings/$section',
      'warning Budget of project search: $170.00 of $200.00 a month spent (85%, policy team) → /settings/$section',
    ])
  })

  it('names models without a price where there is a budget in USD', () => {
    const row = (group: string, usd: number | null, output: number) => ({ group, usd, input: 0, output, requests: 2 })
    const models = [row('gpt-4o', 1, 9), row('house', null, 9), row('refused', null, 0)] as unknown as StatsRow[]
    const budget = { policy: 'team', scope: 'workspace', period: 'month', held: 0, used: 0, limit: 200 } as const
    const resets_at = '2026-04-01T00:00:00Z'
    expect(listed({ models, budgets: [{ ...budget, kind: 'usd', resets_at }] })).toEqual([
      'warning model house: has no price: the cost of its 2 requests of the last day is unknown. Where a budget in USD applies, it is denied, or passes uncounted → /settings/$section',
    ])
    expect(listed({ models, budgets: [{ ...budget, kind: 'tokens', resets_at }] })).toEqual([])
    expect(listed({ models })).toEqual([])
  })

  it('names a target in trouble whose provider is well, and a route that has none left', () => {
    const target = { provider: 'openai', upstream_model: 'gpt-4o', state: 'failing', state_reason: 'overloaded' }
    const route = { id: 'rte_1', model: 'gpt-4o', enabled: true, targets: [target] } as unknown as Route
    expect(listed({ providers: [provider('openai', { targets: [target] })], routes: [route] })).toEqual([
      'bad gpt-4o: its only target cannot be used → /routing/$route',
      'warning openai/gpt-4o: failing: overloaded → /providers/$name',
    ])
    expect(listed({ routes: [{ ...route, enabled: false }] })).toEqual([])
  })

  it('says what of a provider that is well fails without naming a model', () => {
    const failing = { concerns: 'files', state: 'failing', state_reason: 'it answers 500' }
    expect(listed({ providers: [provider('openai', { calls_without_model: failing })] })).toEqual([
      'warning openai, calls without a model (files): failing: it answers 500 → /providers/$name',
    ])
    const ready = { ...failing, state: 'ready', state_reason: null }
    expect(listed({ providers: [provider('openai', { calls_without_model: ready })] })).toEqual([])
  })

  it('does not call a pattern down while models behind it are answered', () => {
    const target = { provider: 'openai', upstream_model: 'gpt-*', state: 'failing', state_reason: 'overloaded' }
    const route = { id: 'rte_1', model: 'gpt-*', enabled: true, targets: [target] } as unknown as Route
    expect(listed({ providers: [provider('openai')], routes: [route] })).toEqual([])
    const failing = provider('openai', { state: 'failing' })
    expect(listed({ providers: [failing], routes: [route] })[1]).toBe(
      'bad gpt-*: its only target cannot be used → /routing/$route',
    )
  })

  it('names errors that no provider is behind, and keys that end soon', () => {
    const errors = [
      { group: 'model_not_found', requests: 82 },
      { group: 'provider_unreachable', requests: 50 },
      { group: 'policy_denied', requests: 2 },
    ] as StatsRow[]
    const key = (days: number) =>
      ({ id: 'key_1', name: 'ci', state: 'active', expires_at: new Date(now + days * 86_400_000).toISOString() }) as Key
    expect(listed({ errors, keys: [key(3), key(30)] })).toEqual([
      'warning model_not_found: 82 requests in the last hour asked for a model that has no route there → /requests',
      'warning key ci: expires in 3 d → /keys/$key',
    ])
  })
})

describe('errors of the last hour', () => {
  const error = (group: string, requests = 5) => ({ group, requests }) as StatsRow
  const linked = (errors: StatsRow[]) =>
    listAttention({ ...nothing, errors }).map(({ subject, text, search }) => [subject, text, search])

  it.each([
    ['policy_denied', '5 requests in the last hour were denied by a policy'],
    ['rate_limited', '5 requests in the last hour were over a rate limit'],
    ['budget_exceeded', '5 requests in the last hour were over a budget'],
    ['invalid_key', '5 requests in the last hour had a key that is not valid'],
    ['not_translatable', '5 requests in the last hour could not be translated for their target'],
    ['overloaded', '5 requests in the last hour found the gateway overloaded'],
    ['internal', '5 requests in the last hour ended with this error'],
  ])('%s are said in words, and lead to the requests that had them', (code, text) => {
    expect(linked([error(code)])).toEqual([[code, text, { since: '1h', error: code }]])
  })

  it('of a status without a code lead to the requests with that status', () => {
    expect(linked([error('status_404', 1200)])).toEqual([
      ['status 404', '1,200 requests in the last hour ended with this error', { since: '1h', status: '404' }],
    ])
  })

  it('are nothing where they are few, have no code, or are told of their provider', () => {
    const ofProviders = ['not_ready', 'unreachable', 'timeout', 'bad_response', 'error'].map((end) => `provider_${end}`)
    const errors = [error('internal', 4), ...['(none)', 'client_closed', ...ofProviders].map((code) => error(code, 99))]
    expect(linked(errors)).toEqual([])
  })

  it('are the first four that there are', () => {
    const codes = ['provider_error', 'a', 'b', 'c', 'd', 'e']
    expect(linked(codes.map((code) => error(code))).map(([subject]) => subject)).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('bounds of what needs attention', () => {
  it('a budget is named at 80% to the cent, and not where it is nothing or counted by user', () => {
    const budget = { policy: 'p', scope: 'workspace', kind: 'tokens', period: 'day', held: 0, resets_at: '' } as const
    const budgets = [
      { ...budget, used: 79, limit: 100 },
      { ...budget, used: 80, limit: 100 },
      { ...budget, used: 0, limit: 0 },
      { ...budget, used: null, limit: 100 },
    ]
    expect(listed({ budgets })).toEqual([
      'warning Budget of the workspace: 80 of 100 a day used (80%, policy p) → /settings/$section',
    ])
  })

  it('a key is named two weeks before its end, also after it, and not once it is revoked', () => {
    const key = (left: number, state = 'active') =>
      ({ id: 'k', name: 'ci', state, expires_at: new Date(now + left).toISOString() }) as Key
    const weeks = 14 * 86_400_000
    const keys = [key(weeks), key(weeks + 1), key(-1), key(1, 'revoked'), { ...key(0), expires_at: null }]
    expect(listed({ keys })).toEqual([
      'warning key ci: expires in 14 d → /keys/$key',
      'warning key ci: expires in 0 ms → /keys/$key',
    ])
  })

  it('three models without a price are named, however many there are', () => {
    const models = ['a', 'b', 'c', 'd'].map(
      (group) => ({ group, usd: null, input: 1, output: 1, requests: 1 }) as unknown as StatsRow,
    )
    const rest = { policy: 'p', scope: 'workspace', period: 'day', held: 0, used: 0, limit: 1, resets_at: '' } as const
    expect(listed({ models, budgets: [{ ...rest, kind: 'usd' }] })).toHaveLength(3)
  })

  it('a route is down only where each of its targets is', () => {
    const target = (name: string, state: string) => ({
      provider: name,
      upstream_model: null,
      state,
      state_reason: null,
    })
    const route = (...targets: object[]) => ({ id: 'r', model: 'm', enabled: true, targets }) as unknown as Route
    const providers = [provider('a'), provider('off', { active: false })]
    const down = (...targets: object[]) => listed({ providers, routes: [route(...targets)] })
    expect(down(target('a', 'failing'), target('a', 'ready'))).toEqual([])
    expect(down(target('a', 'recovering'))).toEqual([])
    expect(down()).toEqual([])
    expect(down(target('a', 'failing'), target('off', 'ready'))).toEqual([
      'bad m: none of its 2 targets can be used → /routing/$route',
    ])
  })
})

describe('the span of a page', () => {
  it('is the shortest that has all of the last day, else the shortest that has the newest', () => {
    const minutes = (count: number) => now - count * 60_000
    expect(chooseSpan(minutes(10), minutes(1), now)).toBe('15m')
    expect(chooseSpan(minutes(50), minutes(1), now)).toBe('1h')
    expect(chooseSpan(minutes(300), minutes(200), now)).toBe('24h')
    expect(chooseSpan(null, minutes(60 * 24 * 3), now)).toBe('7d')
    expect(chooseSpan(null, minutes(60 * 24 * 300), now)).toBe('30d')
    expect(chooseSpan(null, null, now)).toBe('24h')
  })
})

describe('requests by how they ended', () => {
  const point = (requests: number, minute: number) => ({
    requests,
    time: new Date(now + minute * 60_000).toISOString(),
  })
  const group = (name: string, counts: number[]) => ({ group: name, points: counts.map((each, at) => point(each, at)) })
  const series = {
    since: new Date(now).toISOString(),
    until: new Date(now + 120_000).toISOString(),
    step_ms: 60_000,
    groups: [group('2xx', [0, 5]), group('2xx_error', [0, 1]), group('4xx', [0, 2]), group('5xx', [0, 3])],
  } as unknown as Series

  it('are drawn in the colours of a status, and a response that broke off is no success', () => {
    expect(outcomeSeries(series).map(({ name, values }) => [name, ...values])).toEqual([
      ['2xx', 0, 5],
      ['4xx', 0, 2],
      ['5xx', 0, 3],
      ['Broke off', 0, 1],
    ])
    expect(histogramSteps(series)).toEqual([
      { time: now, good: 0, warning: 0, bad: 0 },
      { time: now + 60_000, good: 5, warning: 2, bad: 4 },
    ])
    expect(firstTraffic(series)).toBe(now + 60_000)
  })

  it('end where the time ends, with nothing in it as well', () => {
    const steps = histogramSteps({ ...series, groups: [] })
    expect(steps.map(({ time }) => time)).toEqual([now, now + 60_000])
    const empty = { ...series, groups: [] }
    expect(stepTimes(empty)).toEqual([now, now + 60_000])
    expect(outcomeSeries(empty).map(({ name, values }) => [name, ...values])).toEqual([['2xx', 0, 0]])
  })
})
