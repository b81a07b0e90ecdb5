import { renderToString } from 'ink'
import stringWidth from 'string-width'
import { afterEach, describe, expect, it } from 'vitest'
import { Frame } from '../../tui/app.tsx'
import { drawFrame } from '../../tui/frame.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { type Answers, type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const azure = {
  ...provider,
  id: 'prv_2',
  name: 'azure',
  state: 'failing',
  state_reason: 'credential rejected',
  routes: 1,
}
const providers: Answers = { 'providers.list': [provider, azure], 'providers.show': provider }

describe('a list', () => {
  it('has the columns of the contract, and what can be done', async () => {
    driven = drive(providers)
    await driven.press('2')
    const shown = await driven.see('azure')
    expect(shown).toMatch(/NAME +KIND +STATE +ACTIVE +ROUTES/)
    expect(shown).toMatch(/azure +openai +failing: credential rejected +yes +1/)
    expect(shown.split('\n').at(-1)).toMatch(
      /enter open {2}a add {2}\/ filter {2}e edit {2}x remove {2}m menu {2}l requests {2}c check .*q quit/,
    )
  })

  it('opens a row in its place where the terminal is narrow, and beside the list where it is wide', async () => {
    driven = drive(providers)
    await driven.press('2', 'enter')
    await driven.see('https://api.openai.com/v1')
    expect(driven.text(80, 24)).not.toContain('azure')
    expect(driven.text(160, 45)).toMatch(/azure.* │ .*/)
    await driven.press('escape')
    expect(driven.text(80, 24)).toContain('azure')
  })

  it('filters by any text in a row, and forgets it', async () => {
    driven = drive(providers)
    await driven.press('2')
    await driven.see('azure')
    await driven.press('/', '=AZU', 'enter')
    expect(driven.text()).toContain('1 of 2')
    expect(driven.text()).not.toMatch(/^. openai/m)
    await driven.press('escape')
    expect(driven.text()).toMatch(/^. openai/m)
  })

  it('says what belongs there and how to fill it', async () => {
    driven = drive()
    await driven.press('2')
    const shown = await driven.see('No providers yet.')
    expect(shown).toContain('spgw providers add NAME --kind KIND')
    expect(shown).toContain('Press a to add one here.')
    expect(shown.split('\n').at(-1)).toMatch(/^a add {2}m menu {2}q quit/)
  })

  it('says what went wrong and what to do', async () => {
    const refused = Object.assign(new Error('You may not.'), {
      code: 'refused',
      status: 403,
      data: { hint: 'Ask an owner.' },
    })
    driven = drive({ 'providers.list': () => Promise.reject(refused) })
    await driven.press('2')
    expect(await driven.see('You may not.')).toContain('Ask an owner.')
  })
})

it('closes what is open before it forgets the filter', async () => {
  driven = drive(providers)
  await driven.press('2')
  await driven.see('azure')
  await driven.press('/', '=azure', 'enter', 'enter', 'escape')
  expect(driven.text()).toContain('1 of 2')
  await driven.press('escape')
  expect(driven.text()).not.toContain('1 of 2')
})

it('says when what it shows is old', async () => {
  let sick = false
  const refused = Object.assign(new Error('The store is not well.'), {
    code: 'degraded',
    status: 503,
    data: { hint: 'Wait.' },
  })
  driven = drive({ 'providers.list': () => (sick ? Promise.reject(refused) : [provider]) })
  await driven.press('2')
  await driven.see('openai')
  sick = true
  await driven.press('r')
  expect(await driven.see('Out of date: The store is not well.')).toContain('openai')
})

describe('requests', () => {
  const records = Array.from({ length: 3 }, (_, index) => sampleRecord({ model: `model-${index}` }))

  it('stream in above what was there, and gather aside while they are held', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    async function* tail() {
      yield sampleRecord({ model: 'first-new' })
      await promise
      yield sampleRecord({ model: 'second-new' })
      await new Promise(() => {})
    }
    driven = drive({ 'requests.list': records, 'requests.tail': () => tail() })
    await driven.press('5')
    await driven.see('first-new')
    await driven.press('p')
    resolve()
    expect(await driven.see('1 new: g')).toContain('paused')
    expect(driven.text()).not.toContain('second-new')
    await driven.press('p')
    await driven.see('second-new')
  })

  it('are read anew when some of them were missed', async () => {
    const data = { hint: 'Again.', reason: 'behind' }
    const tooSlow = Object.assign(new Error('The reader is too slow.'), { code: 'degraded', status: 503, data })
    const missed = sampleRecord({ model: 'missed' })
    let tails = 0
    driven = drive({
      'requests.list': () => (tails < 2 ? records : [missed, ...records]),
      'requests.tail': () => (++tails === 1 ? Promise.reject(tooSlow) : streamOf([])),
    })
    await driven.press('5')
    expect(await driven.see('missed')).not.toContain('too slow')
    expect(tails).toBe(2)
  })

  it('show what happened to one, with its time line', async () => {
    const record = sampleRecord({
      timeline: [
        { event: 'received', at_ms: 0 },
        { event: 'done', at_ms: 100 },
      ],
    })
    driven = drive({ 'requests.list': [record], 'requests.tail': () => streamOf([]) })
    await driven.press('5')
    await driven.see('gpt-4o-mini')
    await driven.press('enter')
    const shown = await driven.see('Timeline')
    expect(shown).toContain(record.id)
    expect(shown).toMatch(/received +0 ms +│/)
    expect(shown).toContain('What happened')
    expect(shown).toContain('Ended with 200 after 100 ms.')
  })

  it('show what was said in one, read once, and both beside one another when it is sent again', async () => {
    const record = sampleRecord({ model: 'kept' })
    const body = {
      type: 'application/json',
      bytes: 2,
      truncated: false,
      masked: false,
      content: '{"q":"what was asked"}',
    }
    const request = { ...body, method: 'POST', path: '/v1/chat/completions', headers: {} }
    const sent = [
      { kind: 'part', text: 'said now' },
      {
        kind: 'compared',
        text: 'Before: 200. Now: 201.',
        before: { status: 200, provider: 'openai', output: 5, cost_usd: 0.5, answer: 'said then' },
        after: { status: 201, provider: 'azure', output: 7, cost_usd: 0.25, answer: 'said now' },
        difference: {
          output: 2,
          cost_usd: -0.25,
          answer: [
            { kind: 'same', text: 'said ' },
            { kind: 'removed', text: 'then' },
            { kind: 'added', text: 'now' },
          ],
        },
      },
    ]
    driven = drive({
      'requests.list': [record],
      'requests.tail': () => streamOf([]),
      'requests.show': { ...record, bodies: { capture: 'full', request, answer: null } },
      'requests.replay': () => streamOf(sent),
    })
    await driven.press('5')
    await driven.see('kept')
    await driven.press('enter')
    await driven.see('b bodies')
    await driven.press('b')
    await driven.see('Request  POST /v1/chat/completions')
    await driven.press('end')
    await driven.see('"q": "what was asked"')
    expect(driven.text()).not.toContain('b bodies')
    const shown = driven.calls.filter(({ path }) => path === 'requests.show').map(({ input }) => input)
    expect(shown).toEqual([{ id: record.id, bodies: true }])
    await driven.press('escape', 'm', 'down', 'enter', 'ctrl-s')
    const compared = await driven.see('said [-then-]{+now+}')
    expect(compared).toContain('Before: 200. Now: 201.')
    expect(compared).toMatch(/provider +openai +azure/)
    expect(compared).toMatch(/tokens out +5 +7 +\+2/)
    expect(compared).toMatch(/cost +\$0\.50 +\$0\.25 +-\$0\.25/)
  })

  it('are found by their id', async () => {
    const record = sampleRecord({ model: 'found-by-id' })
    driven = drive({ 'requests.show': record })
    await driven.press('5', '/', `=${record.id}`, 'enter')
    await driven.see('found-by-id')
    expect(driven.calls.find(({ path }) => path === 'requests.show')?.input).toEqual({ id: record.id })
  })

  it('are looked for from anywhere', async () => {
    driven = drive({ 'requests.list': records })
    await driven.press('/', '=model-2')
    expect(await driven.see('1 of 3')).toContain('[5 Requests]')
  })

  it('are asked for by what the gateway can filter', async () => {
    driven = drive()
    await driven.press('5', 'f')
    await driven.see('Status')
    await driven.press('down', 'down', 'down', 'down', 'down', '=4xx', 'ctrl-s')
    await driven.see('filters: status 4xx')
    expect(driven.calls.findLast(({ path }) => path === 'requests.tail')?.input).toEqual({ status: '4xx' })
  })
})

describe('what cannot disturb the terminal', () => {
  const hostile = [
    '\u001b[2J\u001b]0;title\u0007\u001b[31mred',
    '\u202egnp.exe\u2066\u200f',
    '漢字'.repeat(40),
    'x'.repeat(10_000),
    '👩‍👩‍👧‍👦'.repeat(20),
    'a\u0301\u0302\u0303'.repeat(30),
    '\r\n\t\u0000\u0085\u2028',
  ]

  it.each([
    [80, 24],
    [160, 45],
    [40, 10],
    [61, 20],
  ])('keeps every line within %i × %i', async (columns, rows) => {
    const named = hostile.map((name, index) => ({
      ...provider,
      id: `prv_${index}`,
      name,
      state_reason: name,
      headers: { [name]: name },
    }))
    const records = hostile.map((model) =>
      sampleRecord({ model, provider: model, client: { address: null, user_agent: model } }),
    )
    driven = drive({
      'providers.list': named,
      'providers.show': named[0],
      'requests.list': records,
      watch: () => streamOf([{ configuration: 1, status: { gateway_url: hostile[0], data_directory: hostile[3] } }]),
    })
    for (const keys of [
      ['1'],
      ['2'],
      ['enter'],
      ['escape', 'down', 'enter'],
      ['escape', 'm'],
      ['escape', 'x'],
      ['escape', 'e'],
      ['escape', '5'],
      ['down', 'enter'],
    ]) {
      await driven.press(...keys)
      const lines = driven.text(columns, rows).split('\n')
      expect(lines).toHaveLength(rows)
      for (const line of lines) {
        expect(stringWidth(line), line).toBeLessThanOrEqual(columns)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: those it must not hold.
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/)
      }
    }
  })
})

describe('what the terminal can', () => {
  it('is drawn in ASCII alone where it can no more', async () => {
    driven = drive({ ...providers, 'requests.list': [sampleRecord({ model: '漢字' })] })
    for (const keys of [['2'], ['enter'], ['escape', '5'], ['enter'], ['?']]) {
      await driven.press(...keys)
      const lines = driven.text(80, 24, { unicode: false })
      expect(lines).toMatch(/^[ -~\n]*$/)
    }
  })

  it('has no escape sequence without colour, and some with it', async () => {
    driven = drive(providers)
    await driven.press('2')
    await driven.see('azure')
    expect(driven.text(80, 24)).not.toContain('\u001b')
    const coloured = driven.text(80, 24, { colour: true })
    expect(coloured).toContain('\u001b[32mready')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
    expect(coloured.replace(/\u001b\[(0|1|2|7|22|27|3[0-7]|39)m/g, '')).not.toContain('\u001b')
  })

  it('is told to grow when it is too small', () => {
    driven = drive()
    expect(driven.text(30, 8)).toContain('The terminal is too small:')
  })

  it('is filled to its last row by ink', async () => {
    driven = drive(providers)
    await driven.press('2')
    await driven.see('azure')
    const lines = drawFrame(driven.session, { columns: 80, rows: 24 }, { colour: false, unicode: true, utc: false })
    const drawn = renderToString(<Frame lines={lines} rows={24} />, { columns: 80 })
    expect(drawn.split('\n')).toHaveLength(24)
    expect(drawn.split('\n').map((line) => line.trimEnd())).toEqual(lines.map((line) => line.trimEnd()))
  })
})

describe('the project and environment', () => {
  it('are chosen from those that are there, and hold for what is asked', async () => {
    const environments = [
      { id: 'env_1', name: 'production', project: 'default' },
      { id: 'env_2', name: 'staging', project: 'search' },
    ]
    driven = drive({ 'environments.list': environments })
    await driven.press('4', 's')
    expect(await driven.see('search/staging')).toMatch(/▸ all projects +current/)
    await driven.press('G', 'enter')
    expect(await driven.see('spgw  search/staging')).toContain('[4 Keys]')
    const asked = driven.calls.findLast(({ path }) => path === 'keys.list')
    expect(asked?.input).toEqual({ project: 'search', environment: 'staging' })
    await driven.press('s')
    await driven.see('search/staging')
    await driven.press('g', 'enter')
    await driven.see('spgw  all projects')
    expect(driven.calls.findLast(({ path }) => path === 'keys.list')?.input).toMatchObject({ all: true })
  })
})

describe('the first line', () => {
  it('says how the gateway is, as it is told, and nothing is asked for again', async () => {
    const traffic = { requests_per_second: 12.4, error_share: 0.002, duration_p95_ms: 1800, usd_per_hour: 0.42 }
    const status = { traffic, degraded: [] }
    driven = drive({ watch: () => streamOf([{ configuration: 1, status }]) })
    expect(await driven.see('12 req/s')).toContain('● 12 req/s  0.2% err  p95 1.8 s  $0.42/h')
    expect(driven.calls.filter(({ path }) => path === 'status' || path === 'watch')).toHaveLength(1)
  })

  it('names what is degraded', async () => {
    const status = {
      traffic: null,
      degraded: [{ part: 'journal', reason: 'disk full', since: '2026-11-21T11:00:00Z' }],
    }
    driven = drive({ watch: () => streamOf([{ configuration: 1, status }]) })
    expect(await driven.see('▲ degraded: journal')).not.toContain('may be missing here')
    await driven.press('5')
    await driven.see('The journal is degraded: requests since then wait, and may be missing here.')
  })

  it('is followed by what changed: a list is read again when the configuration is another', async () => {
    async function* events() {
      yield { configuration: 1, status: {} }
      yield { configuration: 2, status: {} }
      await new Promise(() => {})
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    driven = drive({ ...providers, watch: () => promise.then(events) })
    await driven.press('2')
    await driven.see('azure')
    const before = driven.calls.filter(({ path }) => path === 'providers.list').length
    resolve()
    await driven.until(() => driven.calls.filter(({ path }) => path === 'providers.list').length > before)
  })
})

describe('without a gateway', () => {
  it('says so and what to do, and goes on when it comes', async () => {
    let there = false
    const absent = Object.assign(new Error('No gateway is running at /x/admin.sock.'), { hint: 'Start it: spgw serve' })
    const answer = (value: unknown) => () => (there ? value : Promise.reject(absent))
    driven = drive({ watch: answer(streamOf([])), 'providers.list': answer([provider]) })
    await driven.press('2')
    expect(await driven.see('No gateway is running')).toContain('Start it: spgw serve')
    there = true
    await driven.press('r')
    await driven.see('openai')
  })
})
