import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { beforeAll, describe, expect, it } from 'vitest'
import { wantsColour } from '../../cli/io.ts'
import { renderTable } from '../../cli/print/table.ts'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { makePaint, type View } from '../../cli/print/view.ts'
import {
  escapeControls,
  formatMilliseconds,
  formatMoney,
  formatShare,
  formatValue,
} from '../../src/admin/contract/show-value.ts'
import { blankUsageDetail, type RequestRecord } from '../../src/core/record.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { sampleNow } from './fake-io.ts'
import { runLine } from './run-line.ts'
import { explanation, unrouted } from './sample-explanation.ts'

const view: View = { width: null, paint: makePaint(false), now: sampleNow, utc: false }

const timeouts = { connect_ms: 5000, first_byte_ms: null, between_chunks_ms: null, total_ms: null }
const openai = {
  id: 'prv_01kj0000000000000000000000',
  name: 'openai',
  kind: 'openai',
  active: true,
  state: 'ready',
  state_reason: null,
  state_since: '2026-03-01T11:00:00.000Z',
  base_url: 'https://api.openai.com/v1',
  headers: {},
  projects: null,
  tags: { team: 'search' },
  timeouts,
  settings: {},
  credentials: [{ id: 'crd_1', last_four: 'f3a1', added_at: '2026-02-17T12:00:00.000Z' }],
  models: [{ name: 'gpt-4o-mini', context_tokens: 128_000, output_tokens: null }],
  revision: 2,
  routes: 4,
  last_hour: { requests: 1204, errors: 3, tried: 1204, failed: 3, fell_back: 1, duration_p95_ms: 1912 },
  created_at: '2026-02-17T12:00:00.000Z',
}
const azure = {
  ...openai,
  name: 'azure',
  kind: 'azure-openai',
  state: 'failing',
  state_reason: 'credential rejected (401)',
  last_hour: { requests: 0, errors: 0, tried: 0, failed: 0, fell_back: 0, duration_p95_ms: null },
}

const fallenBack: RequestRecord = sampleRecord({
  id: 'req_01kj000000000000000000000a',
  time: '2026-03-01T11:59:51.000Z',
  provider: 'azure',
  upstream_model: 'gpt4o-eu',
  streamed: true,
  duration_ms: 3000,
  first_byte_ms: 1900,
  tokens: { input: 12_298, output: 120, cache_read: 12_000, cache_write: 0, reasoning: 64, source: 'reported' },
  usage_detail: { ...blankUsageDetail, searches: 2, tier: 'priority' },
  cost: { usd: 0.000123, price_version: '2026-02-01' },
  estimate_error: 0.00002,
  attempts: [
    {
      provider: 'openai',
      upstream_model: 'gpt-4o-mini',
      status: 429,
      outcome: 'fallback',
      started_ms: 2,
      connected_ms: 30,
      first_byte_ms: 212,
      ended_ms: 212,
      message: 'asks to wait 20 s',
      cost: null,
    },
    {
      provider: 'azure',
      upstream_model: 'gpt4o-eu',
      status: 200,
      outcome: 'answered',
      started_ms: 213,
      connected_ms: 260,
      first_byte_ms: 1900,
      ended_ms: 2999,
      message: null,
      cost: null,
    },
  ],
  timeline: [
    { event: 'received', at_ms: 0 },
    { event: 'admitted', at_ms: 1 },
    { event: 'attempt', at_ms: 2 },
    { event: 'content', at_ms: 1950 },
    { event: 'done', at_ms: 3000 },
  ],
  routing_signals: [{ rule: 'route', verdict: 'taken', text: 'Matched route gpt-4o-* in default/production.' }],
  policy_signals: [
    { rule: 'models', verdict: 'pass', text: 'gpt-4o-mini is allowed' },
    { rule: 'body', verdict: 'flag', text: '0.9 MB of 1 MB' },
  ],
  provider_request_id: 'req-up-1',
  client: { address: '10.0.0.7', user_agent: 'curl/8.5\u001b[2J' },
  tags: { team: 'search' },
})

/** Well begun, badly ended: the status alone would look like success. */
const cut: RequestRecord = sampleRecord({
  id: 'req_01kj000000000000000000000b',
  time: '2026-03-01T11:59:40.000Z',
  model: 'claude-sonnet-with-a-long-name',
  error: { code: 'provider_bad_response', origin: 'provider', message: 'The stream broke off.' },
})

const gateway = {
  'providers.list': () => [openai, azure],
  'providers.show': () => openai,
  'keys.list': () => [],
  'requests.show': () => fallenBack,
  'requests.list': () => [fallenBack, cut],
  'routes.explain': ({ model }: Record<string, unknown>) => (model === 'gpt-4o' ? explanation : unrouted),
}

beforeAll(() => prepareWidths('模'))

describe('what a person reads', () => {
  it.each([
    ['providers-list', ['providers', 'list'], {}],
    ['providers-list-narrow', ['providers', 'list'], { terminal: true, columns: 48 }],
    ['providers-show', ['providers', 'show', 'openai'], {}],
    ['providers-show-utc', ['providers', 'show', 'openai', '--utc'], {}],
    ['providers-list-csv', ['providers', 'list', '--output', 'csv'], {}],
    ['providers-show-yaml', ['providers', 'show', 'openai', '--output', 'yaml'], {}],
    ['requests-list', ['requests', 'list'], {}],
    ['requests-list-narrow', ['requests', 'list'], { terminal: true, columns: 80 }],
    ['requests-show', ['requests', 'show', fallenBack.id], {}],
    ['routes-explain', ['routes', 'explain', 'gpt-4o', '--key', 'ci'], {}],
    ['routes-explain-unrouted', ['routes', 'explain', 'other'], {}],
  ])('%s', async (name, argv, options) => {
    const { status, io } = await runLine(argv, { ...options, gateway })
    const said = name === 'requests-list-narrow' ? 'All projects and environments\n' : ''
    expect([status, io.err()]).toEqual([0, said])
    await expect(io.out()).toMatchFileSnapshot(`../fixtures/cli/${name}.txt`)
  })

  it('keeps to the width of a terminal, whatever its values are', async () => {
    const reason = '5 calls in a row failed: it could not be reached, and the free check failed as well'
    const failing = { ...openai, state: 'failing', state_reason: reason, targets: [] }
    const { io } = await runLine(['providers', 'show', 'openai'], {
      terminal: true,
      columns: 60,
      gateway: { ...gateway, 'providers.show': () => failing },
    })
    expect(io.out()).toMatch(/^State +failing: 5 calls in a row failed: it could not\n {13}be reached/m)
    expect(io.out()).toMatch(/^Last hour +1,204 attempts, 3 failed \(0\.2%\), 1 fell back,\n {13}duration p95 1\.9 s$/m)
    expect(
      io
        .out()
        .split('\n')
        .filter((text) => text.length > 60),
    ).toEqual([])
  })

  it('of a request without a status says in which state it is', async () => {
    const interrupted = sampleRecord({ state: 'interrupted', status: null, duration_ms: null })
    const { io } = await runLine(['requests', 'list'], { gateway: { 'requests.list': () => [interrupted] } })
    expect(io.out()).toMatch(/interrupted +gpt-4o-mini/)
    const csv = await runLine(['requests', 'list', '--output', 'csv'], {
      gateway: { 'requests.list': () => [interrupted] },
    })
    expect(csv.io.out()).toMatch(/status,state,error\.code.*\n.*,,interrupted,,/)
  })

  it.each(['requests.list', 'requests.tail'])(
    'as CSV of %s neither moves the cursor nor computes',
    async (operation) => {
      const client = { address: null, user_agent: '\u001b]52;c;eA==\u0007' }
      const records = [sampleRecord({ model: '=HYPERLINK("http://evil")', route: '\u001b[2Jx', client })]
      const { io } = await runLine([...operation.split('.'), '--output', 'csv', '--columns', 'model,route,client'], {
        gateway: { 'requests.list': () => records, 'requests.tail': () => Readable.from(records) },
      })
      expect(io.out()).toBe(
        `model,route,client.user_agent,client.address\n"'=HYPERLINK(""http://evil"")",\\u001b[2Jx,\\u001b]52;c;eA==\\u0007,\n`,
      )
    },
  )

  it('of a provider that fails says why in a word, and to programs in a sentence', async () => {
    const failing = {
      ...azure,
      state_reason: 'The provider refused the credential.',
      state_code: 'credential_rejected',
    }
    const answers = { 'providers.list': () => [failing] }
    expect((await runLine(['providers', 'list'], { gateway: answers })).io.out()).toContain(
      ' failing: credential_rejected ',
    )
    const csv = await runLine(['providers', 'list', '--output', 'csv'], { gateway: answers })
    expect(csv.io.out()).toContain(',failing,The provider refused the credential.,')
  })

  it('of an empty list is what belongs there, on stderr', async () => {
    const { io } = await runLine(['keys', 'list'], { gateway })
    expect([io.out(), io.err()]).toEqual(['', 'No keys yet. Create one: spgw keys create --name NAME\n'])
    expect((await runLine(['keys', 'list', '--json'], { gateway })).io.out()).toBe('[]\n')
  })

  it('says the same with colour as without', async () => {
    for (const argv of [
      ['providers', 'list'],
      ['requests', 'show', 'x'],
      ['routes', 'explain', 'gpt-4o'],
    ]) {
      const plain = await runLine(argv, { gateway })
      const coloured = await runLine(argv, { gateway, environment: { FORCE_COLOR: '1' } })
      expect(coloured.io.out()).not.toBe(plain.io.out())
      expect(stripVTControlCharacters(coloured.io.out())).toBe(plain.io.out())
    }
  })

  it('never passes on control characters from outside', async () => {
    const { io } = await runLine(['requests', 'show', 'x'], { gateway })
    expect(io.out()).not.toContain('\u001b')
    expect(io.out()).toContain('\\u001b[2J')
    expect(escapeControls('a\u202eb\u009bc')).toBe('a\\u202eb\\u009bc')
  })
})

describe('what a script reads', () => {
  it('is exactly the output of the operation, the same on a terminal', async () => {
    const piped = await runLine(['requests', 'list', '--json'], { gateway })
    const typed = await runLine(['requests', 'list', '--json'], {
      gateway,
      terminal: true,
      columns: 40,
      environment: { FORCE_COLOR: '1' },
    })
    expect(JSON.parse(piped.io.out())).toEqual([fallenBack, cut])
    expect(piped.io.out()).toBe(`${JSON.stringify([fallenBack, cut], null, 2)}\n`)
    expect(typed.io.out()).toBe(piped.io.out())
  })
})

describe('tables', () => {
  it('keep every column as wide as its widest cell, whatever the text', () => {
    const columns = [
      { field: 'name', title: 'Name' },
      { field: 'count', title: 'Count', format: 'number' },
    ] as const
    const row = fc.record({ name: fc.string({ unit: 'grapheme' }), count: fc.integer() })
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), (rows) => {
        const lines = renderTable(columns, rows, view).trimEnd().split('\n')
        expect(lines).toHaveLength(rows.length + 1)
        expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1)
      }),
    )
  })

  it('say in one cell what belongs together, count with a unit, and know what nothing means', () => {
    const columns = [
      { field: 'state', title: 'State', format: 'state', also: { field: 'why', join: ': ' } },
      { field: 'hour', title: 'Hour', format: 'number', unit: 'req' },
      { field: 'targets', title: 'Targets', format: 'targets' },
      { field: 'scope', title: 'Scope', absent: 'all' },
    ] as const
    const targets = [
      { provider: 'a', upstream_model: null },
      { provider: 'b', upstream_model: 'eu' },
    ]
    const rows = [
      { state: 'failing', why: 'no credit', hour: 1204, targets, scope: null },
      { state: 'ready', why: null, hour: null, targets: [], scope: 'staging' },
    ]
    expect(renderTable(columns, rows, view).split('\n')).toEqual([
      'STATE                    HOUR  TARGETS  SCOPE',
      'failing: no credit  1,204 req  a, b:eu  all',
      'ready                       –  –        staging',
      '',
    ])
  })

  it('name the words among the counts of one value, and leave what somebody named as it was written', () => {
    const columns = [
      { field: 'tokens', title: 'Tokens' },
      { field: 'tags', title: 'Tags' },
    ] as const
    const rows = [{ tokens: { input: 50, output: 20, source: 'reported' }, tags: { team: 'search', tier: 'gold' } }]
    expect(renderTable(columns, rows, view).split('\n')[1]).toBe(
      'input 50, output 20, source reported  team=search, tier=gold',
    )
  })

  it('give up columns of nothing first, then cut long words, and never an id', () => {
    const columns = [
      { field: 'name', title: 'Name' },
      { field: 'why', title: 'Why' },
      { field: 'none', title: 'None' },
      { field: 'count', title: 'Count', format: 'number' },
      { field: 'id', title: 'ID', format: 'id' },
    ] as const
    const rows = [{ name: 'one', why: 'because of something', none: null, count: 7, id: 'req_0123456789' }]
    const at = (width: number) =>
      renderTable(columns, rows, { ...view, width })
        .split('\n')
        .slice(0, 2)
    expect(at(56)).toEqual(renderTable(columns, rows, view).split('\n').slice(0, 2))
    expect(at(44)).toEqual(['NAME  WHY              COUNT  ID', 'one   because of som…      7  req_0123456789'])
    expect(at(36)[1]).toBe('one   because of so…  req_0123456789')
    expect(at(24)[1]).toBe('one   req_0123456789')
  })

  it('never are wider than the terminal', () => {
    const columns = [
      { field: 'a', title: 'First' },
      { field: 'b', title: 'Second', cut: 'middle' },
    ] as const
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.integer({ min: 8, max: 60 }), (a, b, width) => {
        const lines = renderTable(columns, [{ a, b }], { ...view, width }).split('\n')
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe('values', () => {
  it('have their unit and no more digits than they need', () => {
    const times = [0, 0.02, 0.5, 3.04, 9.96, 310, 999.4, 1912, 59_949, 60_000, 200_000, 7_500_000, 604_800_000, 2e8]
    expect(times.map(formatMilliseconds).join(', ')).toBe(
      '0 ms, < 0.1 ms, 0.5 ms, 3 ms, 10 ms, 310 ms, 999 ms, 1.9 s, 59.9 s, 1 min, 3 min 20 s, 2 h 5 min, 7 d, 2 d 7 h',
    )
    expect([0, 1.94, 0.01, 0.0001, 0.000123, 1234.5].map(formatMoney)).toEqual([
      ...['$0.00', '$1.94', '$0.01', '$0.0001', '$0.000123', '$1,234.50'],
    ])
    expect([0, 999, 1000, 1_234_567, 100e6].map((bytes) => formatValue(bytes, 'bytes', view))).toEqual([
      ...['0 B', '999 B', '1.0 KB', '1.2 MB', '100 MB'],
    ])
  })

  it('tell objects that nobody described in words', () => {
    expect(formatValue({ requests: 1204, errors: 0, duration_p95_ms: null }, 'text', view)).toBe(
      '1,204 requests, 0 errors',
    )
    expect([0, 0.0004, 0.004, 0.38, 563 / 565, 0.99999, 1].map(formatShare)).toEqual([
      '0%',
      '< 0.1%',
      '0.4%',
      '38%',
      '99.6%',
      '> 99.9%',
      '100%',
    ])
    expect(formatValue({ after: 'p95', share: 5 }, 'text', view)).toBe('after p95, at most 5%')
    const targets = [9, 1, 0].map((weight) => ({ provider: 'openai', upstream_model: null, weight, format: null }))
    expect(formatValue(targets, 'targets', view)).toBe('openai,weight=9, openai, openai,weight=0')
    expect(formatValue({ code: 'model_not_found', message: 'No.' }, 'text', view)).toBe('model_not_found: No.')
    expect(formatValue({ first_byte_ms: 60_000 }, 'text', view)).toBe('first byte 1 min')
  })

  it('name no field as the record does, and give it the unit of its name', () => {
    const minute = { requests: 12, duration_p95_ms: 2000, error_share: 0.002 }
    const text = formatValue(minute, 'text', view)
    expect(text).toBe('12 requests, duration p95 2.0 s, error share 0.2%')
    expect(text).not.toMatch(/[_=]/)
  })

  it('give times as ages, both ways', () => {
    const at = (distance: number) => formatValue(new Date(sampleNow - distance).toISOString(), 'age', view)
    expect([0, 3000, 90_000, 7_200_000, 86_400_000 * 12, -86_400_000 * 3].map(at)).toEqual([
      ...['now', '3 s ago', '1 min ago', '2 h ago', '12 d ago', 'in 3 d'],
    ])
    // A moment after a key was made for 30 days, or a link for an hour.
    expect([-86_400_000 * 30 + 900, -3_599_200, -59_700, -86_399_000].map(at)).toEqual([
      ...['in 30 d', 'in 1 h', 'in 1 min', 'in 1 d'],
    ])
  })
})

describe('colour', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ TERM: 'dumb' }, true, false],
  ])('%j on a terminal: %s', (environment, isTerminal, wanted) => {
    expect(wantsColour({ isTerminal }, environment)).toBe(wanted)
  })
})
