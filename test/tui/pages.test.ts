import stringWidth from 'string-width'
import { afterEach, describe, expect, it } from 'vitest'
import { type Answers, type Driven, drive, provider, streamOf } from './drive.ts'

let driven: Driven
afterEach(() => driven.stop())

const found = (state: string, reason: string | null = null) => ({
  state,
  state_reason: reason,
  state_since: reason === null ? null : '2026-11-21T11:57:00Z',
})
const dead = {
  ...provider,
  id: 'prv_dead',
  name: 'dead',
  ...found('failing', 'cannot resolve the host name of the provider, which is api.example.com'),
  targets: [
    { provider: 'dead', upstream_model: 'gone', ...found('failing', 'another reason') },
    { provider: 'dead', upstream_model: 'lost', ...found('unchecked') },
  ],
  last_hour: { requests: 36, errors: 36, tried: 36, failed: 36, fell_back: 12, duration_p95_ms: 254 },
  settings: {},
  tags: {},
}
const smart = {
  id: 'rte_smart',
  model: 'smart',
  project: 'default',
  environment: 'production',
  enabled: true,
  strategy: 'priority',
  retries: 1,
  fallback_on: [],
  timeouts: {},
  strict: false,
  owned: {},
  created_at: '2026-11-20T12:00:00Z',
  targets: [
    { provider: 'demo', upstream_model: 'demo-large', weight: 1, priority: 1, ...found('ready') },
    { provider: 'dead', upstream_model: 'gone', weight: 1, priority: 0, ...found('ready') },
  ],
}
const point = (requests: number) => ({ time: '2026-11-21T11:00:00Z', requests, errors: 0 })
const series = { groups: [{ group: 'total', points: [point(0), point(2), point(8)] }] }
const traffic = [
  {
    provider: 'dead',
    upstream_model: 'gone',
    share: 0.8,
    requests: 36,
    errors: 36,
    tried: 36,
    failed: 36,
    fell_back: 36,
    duration_p95_ms: 254,
  },
  {
    provider: 'demo',
    upstream_model: 'demo-large',
    share: 0.2,
    requests: 9,
    errors: 0,
    tried: 9,
    failed: 0,
    fell_back: 0,
    duration_p95_ms: 90,
  },
]
const answers: Answers = {
  'providers.list': [dead, { ...provider, id: 'prv_demo', name: 'demo', kind: 'demo' }],
  'providers.show': dead,
  'providers.history': [
    { time: '2026-11-21T11:57:00Z', state: 'failing', reason: 'cannot resolve' },
    { time: '2026-11-21T09:00:00Z', state: 'ready', reason: null },
  ],
  'routes.list': [smart, { ...smart, id: 'rte_2', model: 'alone', enabled: false, targets: [smart.targets[1]] }],
  'routes.show': smart,
  'routes.traffic': traffic,
  'requests.series': series,
  // Attempts at the provider, also those that another one stood in for.
  'providers.attempts': { points: [{ tried: 0 }, { tried: 9 }, { tried: 36 }] },
  'requests.stats': [{ group: 'total', requests: 45, errors: 0, duration_p95_ms: 300 }],
}

async function open(tab: string, name: string): Promise<void> {
  await driven.press(tab)
  await driven.see(name)
  while (!new RegExp(`▸ ${name}`).test(driven.text())) await driven.press('down')
  await driven.press('enter')
}

describe('the page of a provider', () => {
  it('says how it is, since when and why, and what its attempts came to', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    const shown = await driven.see('Used by routes')
    expect(shown).toContain('dead  ▲ failing for 3 min')
    expect(shown).toContain('cannot resolve the host name of the provider')
    expect(shown).toContain('36 attempts  36 failed (100%)  12 fell back  p95 254 ms')
    expect(shown).toContain('·▂█')
  })

  it('lists its models with their own states, and a reason where it is another', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    const shown = await driven.see('Models in use')
    expect(shown).toMatch(/gone {2}▲ failing for 3 min\n +another reason/)
    expect(shown).toMatch(/lost {2}○ unchecked/)
  })

  it('lists the routes that use it, with its place in each', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    const shown = await driven.see('its only target')
    expect(shown).toMatch(/smart +default\/production +target 2 of 2/)
    expect(shown).toMatch(/alone +default\/production +its only target, route disabled/)
  })

  it('lists the changes of its state, newest first', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    await driven.see('State changes')
    expect(driven.text()).toMatch(/3 min ago +failing: cannot resolve\n +3 h ago +ready/)
  })

  it('leaves out what it has no value for', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    const shown = await driven.see('Settings')
    expect(shown).toMatch(/Headers +x-team=search/)
    expect(shown).not.toMatch(/Tags|Projects|Credentials/)
  })

  it('shows a provider that was switched off as inactive, whatever was found before', async () => {
    driven = drive({ ...answers, 'providers.show': { ...dead, active: false } })
    await open('2', 'dead')
    await driven.see('dead  ○ inactive')
    expect(driven.text()).not.toContain('cannot resolve the host')
  })

  it('stays of use where the gateway answers only some of it', async () => {
    const refused = Object.assign(new Error('No.'), { code: 'refused', status: 403, data: { hint: '' } })
    const refuse = () => Promise.reject(refused)
    driven = drive({ ...answers, 'providers.history': refuse, 'providers.attempts': refuse, 'routes.list': refuse })
    await open('2', 'dead')
    const shown = await driven.see('36 attempts')
    expect(shown).toContain('Settings')
    expect(shown).not.toContain('Used by routes')
  })

  it('asks nothing once it is left', async () => {
    driven = drive(answers)
    await open('2', 'dead')
    await driven.see('State changes')
    await driven.press('escape', '4')
    const before = driven.calls.length
    await driven.press('?', 'escape')
    expect(driven.calls.slice(before).filter(({ path }) => path !== 'keys.list')).toEqual([])
  })
})

describe('the page of a route', () => {
  it('draws its targets in the order in which they are tried, with state and share', async () => {
    driven = drive(answers)
    await open('3', 'smart')
    await driven.see('36 attempts')
    const lines = driven.text().split('\n')
    const first = lines.findIndex((line) => line.includes('├─ 1  dead:gone'))
    const second = lines.findIndex((line) => line.includes('└─ 2  demo:demo-large'))
    expect(first).toBeGreaterThan(0)
    expect(second).toBeGreaterThan(first)
    const between = lines.slice(first, second).join('\n')
    expect(between).toContain('▲ failing for 3 min')
    expect(between).toContain('████████░░ 80%  36 attempts  36 failed (100%)')
    expect(lines[second]).toContain('● ready')
    expect(lines[second + 1]).toContain('██░░░░░░░░ 20%  9 attempts  none failed  p95 90 ms')
  })

  it('shows the state of each target, however long the names are', async () => {
    const [first, second] = smart.targets
    const long = `accounts/vendor/models/${'a-long-name-'.repeat(12)}end`
    const targets = [{ ...first, upstream_model: long }, second]
    driven = drive({ ...answers, 'routes.show': { ...smart, model: `${long}-of-clients`, targets } })
    await open('3', 'smart')
    const lines = (await driven.see('no attempts in the last hour')).split('\n')
    const line = (start: string) => lines.find((each) => each.includes(start))
    expect(line('├─ 1')).toContain('▲ failing for 3 min')
    expect(line('└─ 2')).toMatch(/2 {2}demo:accounts\/.*….*-end {2}● ready/)
    expect(line('of-clients')).toContain('● enabled')
  })

  it('counts requests apart from attempts', async () => {
    driven = drive(answers)
    await open('3', 'smart')
    const shown = await driven.see('Requests, last hour')
    expect(shown).toContain('45 requests  0% errors  p95 300 ms')
  })

  it('says that nothing came yet, and how to send something', async () => {
    driven = drive({ ...answers, 'routes.traffic': [], 'requests.stats': [], 'requests.series': {} })
    await open('3', 'smart')
    const shown = await driven.see('No requests yet. Press t to send a test request.')
    expect(shown.match(/no attempts in the last hour/g)).toHaveLength(2)
  })

  it.each([
    [{ strategy: 'weighted', retries: 0 }, ['by weighted, no retries', 'weight 1']],
    [{ enabled: false }, ['○ disabled: no requests are sent']],
    [{ environment: null }, ['default/all environments']],
  ])('says %o', async (change, wanted) => {
    driven = drive({ ...answers, 'routes.show': { ...smart, ...change } })
    await open('3', 'smart')
    for (const text of wanted) await driven.see(text)
  })

  it('asks about a route of all environments as such', async () => {
    const everywhere = { ...smart, environment: null }
    driven = drive({ ...answers, 'routes.list': [everywhere], 'routes.show': everywhere })
    await open('3', 'smart')
    await driven.see('Requests, last hour')
    const input = driven.calls.findLast(({ path }) => path === 'routes.traffic')?.input
    expect(input).toEqual({ model: 'rte_smart', project: 'default', allEnvironments: true })
  })

  it('adds up what a target sent under several names', async () => {
    const pattern = {
      ...smart,
      model: 'gpt-*',
      targets: [{ provider: 'demo', upstream_model: null, weight: 1, priority: 0, ...found('ready') }],
    }
    const rows = ['gpt-1', 'gpt-2'].map((name) => ({ ...traffic[1], upstream_model: name, share: 0.5 }))
    driven = drive({ ...answers, 'routes.list': [pattern], 'routes.show': pattern, 'routes.traffic': rows })
    await open('3', 'gpt')
    await driven.see('██████████ 100%  18 attempts  none failed')
  })
})

describe('a page', () => {
  it.each([
    ['2', 'dead'],
    ['3', 'smart'],
  ])('of tab %s fits, cuts no reason, and is plain ASCII where the terminal is', async (tab, name) => {
    driven = drive(answers)
    await open(tab, name)
    await driven.see('36 attempts')
    for (const [columns, rows] of [
      [40, 12],
      [60, 20],
      [80, 24],
      [120, 40],
      [200, 50],
    ] as const) {
      for (const line of driven.text(columns, rows).split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(columns)
      expect(driven.text(columns, rows, { unicode: false })).toMatch(/^[ -~\n]*$/)
      expect(driven.text(columns, rows, { unicode: false })).not.toContain('?? ')
    }
    expect(driven.text(60, 60).replace(/[│\s]+/g, ' ')).toContain('which is api.example.com')
  })

  it('says what fails without naming a model', async () => {
    const others = { concerns: 'files, batches', ...found('failing', 'it answers 500') }
    driven = drive({ ...answers, 'providers.show': { ...dead, calls_without_model: others } })
    await driven.press('2')
    await driven.see('dead')
    await driven.press('enter')
    const shown = (await driven.see('Calls without a model')).replace(/[│\s]+/g, ' ')
    expect(shown).toMatch(/files, batches ▲ failing for .* it answers 500/)
  })

  it('keeps the names of others from moving the cursor', async () => {
    const evil = '\u001b[2J\u202e'
    driven = drive({
      ...answers,
      'providers.show': { ...dead, state_reason: evil, targets: [{ upstream_model: evil, ...found('failing', evil) }] },
      'routes.list': [{ ...smart, model: evil }],
      'providers.history': [{ time: 'x', state: evil, reason: evil }],
    })
    await driven.press('2')
    await driven.see('dead')
    await driven.press('enter')
    await driven.see('State changes')
    const shown = driven.text(120, 60)
    for (const sign of ['\u001b', '\u202e']) expect(shown).not.toContain(sign)
  })
})

describe('the overview', () => {
  const watch = () => streamOf([{ configuration: 1, status: {} }])

  it('says first what needs attention, and nothing of it where all is well', async () => {
    driven = drive({ ...answers, watch })
    const shown = await driven.see('Needs attention')
    expect(shown).toContain('▲ dead: 36 of 36 attempts failed in the last hour, cannot resolve')
    expect(shown.indexOf('Needs attention')).toBeLessThan(shown.indexOf('Gateway URL'))
    driven.stop()
    driven = drive({ 'providers.list': [provider], watch })
    await driven.see('openai')
    expect(driven.text()).not.toContain('Needs attention')
  })

  it('leaves out a provider that was switched off', async () => {
    driven = drive({ 'providers.list': [{ ...dead, active: false }], watch })
    await driven.see('  dead ')
    expect(driven.text()).not.toContain('Needs attention')
  })
})

describe('what is used of limits', () => {
  const place = { policy: 'team', scope: 'project:search' }
  const month = {
    ...place,
    kind: 'usd',
    period: 'month',
    used: 50,
    held: 100,
    limit: 200,
    resets_at: '2026-12-01T00:00:00Z',
  }
  const users = { ...place, kind: 'requests', used: null, limit: 10, resets_at: null }
  const usage = [{ policy: 'team', periods: [month], limits: [users] }]
  const policy = { id: 'pol_1', name: 'team', attached_to: ['project:search'], rpm: 10, cap_output: false }

  it('stands below a policy', async () => {
    driven = drive({ 'policies.list': [policy], 'policies.show': policy, 'policies.usage': usage })
    await driven.press(':', '=policies', 'enter')
    await driven.see('team')
    await driven.press('enter')
    const shown = await driven.see('for each end user')
    expect(shown).toMatch(/USD a month +█████▒▒▒▒▒▒▒▒▒▒····· {2}\$50.00 \(25%\) of \$200.00 {2}\$100.00 held/)
    expect(shown).toContain('project search  policy team  resets in')
    expect(shown).not.toContain('Cap output')
    expect(driven.calls.find(({ path }) => path === 'policies.usage')?.input).toEqual({ name: 'pol_1' })
  })

  it('is shown of a key of any project at once, without a question', async () => {
    const key = { id: 'key_1', name: 'web', project: 'search', environment: 'production', last_four: 'a1b2' }
    const used = { key: { id: 'key_1', name: 'web' }, today: { requests: 17 }, limits: [users], periods: [month] }
    driven = drive({ 'keys.list': [key], 'keys.usage': [used] })
    await driven.press('4')
    await driven.see('a1b2')
    await driven.press('u')
    expect(await driven.see('TODAY')).toContain('17 req')
    expect(driven.calls.find(({ path }) => path === 'keys.usage')?.input).toEqual({ key: 'key_1' })
  })

  it('stands on the overview, the budgets alone', async () => {
    const status = { traffic: null, degraded: [], budgets: [month] }
    driven = drive({ watch: () => streamOf([{ configuration: 1, status }]) })
    const shown = await driven.see('USD a month')
    expect(shown).toContain('Budgets')
    expect(shown).toContain('$50.00 (25%) of $200.00')
  })
})
