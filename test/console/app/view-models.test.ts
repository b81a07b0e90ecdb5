import { describe, expect, it } from 'vitest'
import { findDifferences, pathInWords } from '../../../src/console/app/areas/differences.ts'
import { allModels, matchesPattern, modelsByLane } from '../../../src/console/app/areas/lane-models.ts'
import { checkSteps, suggestedBaseUrl } from '../../../src/console/app/areas/providers/check-steps.ts'
import { healthSpans, readyShare } from '../../../src/console/app/areas/providers/health-strip.ts'
import { readBody } from '../../../src/console/app/areas/routing/explain-body.ts'
import { drawLines, expectedShares, pictureHeight } from '../../../src/console/app/areas/routing/route-picture.ts'
import {
  moveRow,
  newRow,
  problemsOfRows,
  rowsOf,
  writeRows,
} from '../../../src/console/app/areas/routing/target-rows.ts'
import { trafficOf } from '../../../src/console/app/areas/routing/target-traffic.ts'
import { projectsOfPolicy } from '../../../src/console/app/areas/settings/policy-fields.ts'
import { describeTimeRange } from '../../../src/console/app/areas/time-range.ts'
import { describeBrowser } from '../../../src/console/app/parts/browser.ts'
import type { FormatName } from '../../../src/core/format.ts'
import { variablesIn } from '../../../src/core/variables.ts'

describe('differences of two answers', () => {
  it('are the leaves that differ, with what was and what is', () => {
    const before = { base_url: 'a', headers: { x: '1', y: '2' }, timeouts: { total_ms: null }, projects: ['a'] }
    const after = { base_url: 'b', headers: { x: '1' }, timeouts: { total_ms: 5 }, projects: ['a', 'b'] }
    expect(findDifferences(before, after)).toEqual([
      { path: 'base_url', before: 'a', after: 'b' },
      { path: 'headers.y', before: '2', after: null },
      { path: 'projects', before: 'a', after: 'a, b' },
      { path: 'timeouts.total_ms', before: null, after: '5 ms' },
    ])
  })

  it('know items of a list by their names, and leave out what always differs', () => {
    const of = (last: string) => ({ number: 1, credentials: [{ id: 'cre_1', last_four: last, added_at: last }] })
    expect(findDifferences(of('a'), of('b'), ['number', 'added_at'])).toEqual([
      { path: 'credentials[cre_1].last_four', before: 'a', after: 'b' },
    ])
    expect(findDifferences(of('a'), of('a'))).toEqual([])
  })

  it('are seen in each of several items of one name', () => {
    const of = (first: number, second: number) => ({
      targets: [
        { provider: 'openai', upstream_model: 'a', weight: first },
        { provider: 'openai', upstream_model: 'b', weight: second },
      ],
    })
    expect(findDifferences(of(1, 1), of(5, 1))).toEqual([{ path: 'targets[openai].weight', before: '1', after: '5' }])
    expect(findDifferences(of(1, 1), of(1, 5))).toEqual([{ path: 'targets[openai 2].weight', before: '1', after: '5' }])
    expect(pathInWords('targets[openai 2].weight')).toBe('Targets openai 2, weight')
  })

  it('have places that a person can read', () => {
    expect(pathInWords('timeouts.total_ms')).toBe('Timeouts, total')
    expect(pathInWords('base_url')).toBe('Base URL')
    expect(pathInWords('id')).toBe('ID')
    expect(pathInWords('credentials[cre_01m7zj73cmyxbve5d6deqfyj36].last_four')).toBe('Credentials …fyj36, last four')
    expect(pathInWords('targets[openai].weight')).toBe('Targets openai, weight')
  })
})

describe('the targets of a route that is written', () => {
  it('need a provider, and a weight that is a number', () => {
    const row = { ...newRow('openai'), weight: '2' }
    expect(problemsOfRows([newRow()])).toHaveProperty('targets')
    expect(problemsOfRows([])).toHaveProperty('targets')
    expect(problemsOfRows([row, newRow()])).toEqual({})
    for (const weight of ['2,5', 'two', 'Infinity'])
      expect(problemsOfRows([row, { ...row, weight }])).toEqual({
        targets: 'A weight must be a number, like 2 or 0.5.',
      })
    for (const weight of ['', ' 0.5 ', '0']) expect(problemsOfRows([{ ...row, weight }])).toEqual({})
  })
})

describe('a span of time that is none of the usual', () => {
  it('is told with its unit', () => {
    expect(describeTimeRange('2m', undefined)).toBe('Last 2 min')
    expect(describeTimeRange('36h', undefined)).toBe('Last 36 h')
    expect(describeTimeRange('2026-11-20T10:00:00', '2026-11-21T12:30:00')).toBe('20 Nov, 10:00 – 21 Nov, 12:30')
  })
})

describe('the models of a scope', () => {
  const kinds = [
    { kind: 'openai', speaks: ['openai' as const] },
    { kind: 'demo', speaks: ['openai' as const, 'anthropic' as const, 'gemini' as const] },
  ]
  const provider = (name: string, kind: string, models: string[], active = true) => ({
    name,
    kind,
    active,
    models: models.map((model) => ({ name: model })),
  })
  const route = (model: string, target: string, environment: string | null = 'production', enabled = true) => ({
    model,
    project: 'default',
    environment,
    enabled,
    targets: [{ provider: target }],
  })
  const scope = { project: 'default', environment: 'production' }

  it('are offered on all lanes, first those of providers that have the lane themselves', () => {
    const found = modelsByLane(
      scope,
      [route('a', 'one'), route('b', 'two')],
      [provider('one', 'openai', []), provider('two', 'demo', [])],
      kinds,
    )
    expect(found).toEqual({ openai: ['a', 'b'], anthropic: ['b', 'a'], gemini: ['b', 'a'] })
    expect(allModels(found)).toEqual(['a', 'b'])
  })

  it('are of a pattern those that the provider has; what is off, elsewhere or gone has none', () => {
    const providers = [provider('one', 'openai', ['gpt-4o', 'o1']), provider('off', 'openai', ['x'], false)]
    const routes = [
      route('gpt-*', 'one', null),
      route('x', 'off'),
      route('y', 'one', 'staging'),
      route('z', 'one', 'production', false),
      route('w', 'nobody'),
    ]
    expect(modelsByLane(scope, routes, providers, kinds).openai).toEqual(['gpt-4o'])
  })

  it('match a pattern with one star', () => {
    expect(matchesPattern('gpt-*-mini', 'gpt-4o-mini')).toBe(true)
    expect(matchesPattern('ab*ba', 'aba')).toBe(false)
    expect(matchesPattern('exact', 'exact')).toBe(true)
  })
})

describe('a check, step by step', () => {
  const failed = (reason: string) =>
    checkSteps({ ok: false, reason, message: 'why', models: null }).map(({ state, note }) =>
      `${state} ${note ?? ''}`.trim(),
    )

  it('ends at the step that its reason names', () => {
    expect(failed('unreachable')).toEqual(['failed why', 'waiting', 'waiting', 'waiting'])
    expect(failed('wrong_url')).toEqual(['done', 'failed why', 'waiting', 'waiting'])
    expect(failed('credential_rejected')).toEqual(['done', 'done', 'failed why', 'waiting'])
    expect(failed('something new')).toEqual(['done', 'done', 'done', 'failed why'])
  })

  it('is done whole, or under way', () => {
    const whole = checkSteps({ ok: true, reason: null, message: '', models: 3 })
    expect(whole.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done'])
    expect(whole.at(-1)?.note).toBe('3 found')
    expect(checkSteps(null)[0]?.state).toBe('running')
  })

  it('finds the base URL that was meant', () => {
    const said = 'Nothing is there. The provider answers at http://x/v1: make that the base URL.'
    expect(suggestedBaseUrl(said)).toBe('http://x/v1')
    expect(suggestedBaseUrl('The credential is refused.')).toBeNull()
  })
})

describe('health over time', () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString()

  it('is cut at each change; before the first nothing is known', () => {
    const entries = [
      { time: at(50), state: 'failing', reason: 'down' },
      { time: at(25), state: 'ready', reason: null },
      { time: at(75), state: 'ready', reason: null },
    ]
    const spans = healthSpans(entries, 0, 100_000)
    expect(spans.map(({ state, start, size }) => [state, start, size])).toEqual([
      ['unknown', 0, 0.25],
      ['ready', 0.25, 0.25],
      ['failing', 0.5, 0.25],
      ['ready', 0.75, 0.25],
    ])
    expect(readyShare(spans)).toBeCloseTo(2 / 3)
  })

  it('counts no time as ready before anything was tried', () => {
    const spans = healthSpans(
      [
        { time: at(0), state: 'unchecked', reason: null },
        { time: at(50), state: 'failing', reason: 'refused' },
      ],
      0,
      100_000,
    )
    expect(readyShare(spans)).toBe(0)
    expect(readyShare(spans.slice(0, 1))).toBeNull()
  })

  it('begins with what held before', () => {
    const spans = healthSpans([{ time: at(10), state: 'ready', reason: null }], 50_000, 100_000)
    expect(spans.map(({ state, size }) => [state, size])).toEqual([['ready', 1]])
    expect(readyShare(healthSpans([], 0, 1000))).toBeNull()
  })
})

describe('the picture of a route', () => {
  const size = { width: 100, rowHeight: 40, gap: 10 }

  it('leads from the middle to the middle of each row', () => {
    expect(pictureHeight(3, size)).toBe(140)
    const lines = drawLines(
      [
        { key: 'a', share: 1 },
        { key: 'b', share: 0 },
        { key: 'c', share: null },
      ],
      size,
    )
    expect(lines.map(({ path }) => path)).toEqual([
      'M0 70C50 70 50 20 100 20',
      'M0 70C50 70 50 70 100 70',
      'M0 70C50 70 50 120 100 120',
    ])
    expect(lines.map(({ width }) => width)).toEqual([9, 1.5, 1.5])
  })

  it('says what a weighted route expects, within the first priority', () => {
    const targets = [
      { weight: 3, priority: 0 },
      { weight: 1, priority: 0 },
      { weight: 9, priority: 1 },
    ]
    expect(expectedShares('weighted', targets)).toEqual([0.75, 0.25, 0])
    expect(expectedShares('priority', targets)).toEqual([null, null, null])
  })

  it('gives each target what went to it, whatever names the client used', () => {
    const row = (provider: string, model: string, share: number, p95: number | null) => ({
      provider,
      upstream_model: model,
      tried: share * 10,
      failed: 1,
      share,
      duration_p95_ms: p95,
    })
    const any = { provider: 'a', upstream_model: null }
    const exact = { provider: 'a', upstream_model: 'm' }
    const rows = [row('a', 'x', 0.2, 10), row('a', 'y', 0.3, 50), row('a', 'm', 0.5, null)]
    expect(trafficOf(any, [any, exact], rows)).toEqual({ tried: 5, failed: 2, share: 0.5, p95: 50 })
    expect(trafficOf(exact, [any, exact], rows)).toEqual({ tried: 5, failed: 1, share: 0.5, p95: null })
    expect(trafficOf({ provider: 'b', upstream_model: null }, [any], rows)).toBeNull()
  })
})

const found = {
  state: 'ready',
  state_reason: null,
  state_since: null,
  format: null,
  formats: [] as FormatName[],
} as const

describe('targets that are edited', () => {
  it('are written as the contract takes them', () => {
    const rows = [{ ...newRow('openai'), weight: '3' }, newRow('groq', ' llama '), newRow('')]
    expect(writeRows(rows)).toEqual(['openai,weight=3', 'groq:llama'])
  })

  it('come from a route and go back unchanged', () => {
    const targets = [
      { provider: 'a', upstream_model: null, weight: 1, priority: 0, ...found },
      { provider: 'b', upstream_model: 'm:1', weight: 2, priority: 1, ...found },
    ]
    expect(writeRows(rowsOf(targets))).toEqual(['a', 'b:m:1,weight=2'])
    const level = targets.map((target) => ({ ...target, priority: 0 }))
    expect(writeRows(rowsOf(level))).toEqual(['a,priority=0', 'b:m:1,weight=2,priority=0'])
    const told = targets.map((target) => ({ ...target, format: 'responses' as const }))
    expect(writeRows(rowsOf(told))).toEqual(['a,format=responses', 'b:m:1,weight=2,format=responses'])
  })

  it('change places, never beyond an end', () => {
    const rows = [newRow('a'), newRow('b'), newRow('c')]
    const names = (from: number, to: number) => moveRow(rows, from, to).map(({ provider }) => provider)
    expect(names(0, 1)).toEqual(['b', 'a', 'c'])
    expect(names(2, 0)).toEqual(['c', 'a', 'b'])
    expect(names(0, -1)).toEqual(['a', 'b', 'c'])
    expect(names(2, 3)).toEqual(['a', 'b', 'c'])
  })
})

describe('a body to explain', () => {
  it('names its model and, where its form tells, its lane', () => {
    expect(readBody('{"model":"m","messages":[]}')).toEqual({ model: 'm', lane: null, fault: null })
    expect(readBody('{"contents":[]}')).toMatchObject({ model: null, lane: 'gemini' })
    expect(readBody('{"model":"m","system":"s","messages":[],"max_tokens":1}')).toMatchObject({ lane: 'anthropic' })
    expect(readBody('{"model":"m","input":"x"}')).toMatchObject({ lane: 'openai' })
    expect(readBody('{')).toMatchObject({ model: null, fault: 'This is not valid JSON.' })
    for (const odd of ['null', '7', '"text"', '[]']) expect(readBody(odd)).toMatchObject({ model: null, lane: null })
  })
})

describe('a configuration file', () => {
  it('names its variables once, in order', () => {
    const variable = (name: string) => `$\{${name}}`
    expect(variablesIn(`a: ${variable('B')}\nc: ${variable('A')} ${variable('B')} $${variable('C')}`)).toEqual([
      'B',
      'A',
    ])
  })
})

describe('where one must be an admin to change a policy', () => {
  const keys = [
    { name: 'web', project: 'a' },
    { name: 'web', project: 'b' },
    { name: 'ci', project: 'a' },
  ]
  it.each([
    [['project:a', 'environment:b/production'], [], ['a', 'b']],
    [['key:web'], ['key:ci'], ['a', 'b']],
    [['workspace', 'project:a'], [], [null, 'a']],
    [[], [], [null]],
  ])('%j, held by %j', (attached_to, held_by, projects) => {
    expect(projectsOfPolicy({ attached_to, held_by }, keys)).toEqual(projects)
  })
})

describe('a browser', () => {
  it.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
      'Chrome 156 on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0',
      'Edge 143 on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15',
      'Safari 26 on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1',
      'Safari 26 on iOS',
    ],
    ['Mozilla/5.0 (Android 16; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0', 'Firefox 145 on Android'],
    ['curl/8.15.0', 'curl/8.15.0'],
  ])('%s', (userAgent, words) => {
    expect(describeBrowser(userAgent)).toBe(words)
  })
})
